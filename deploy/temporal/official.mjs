// Downloads the Temporal dev server with the SDK into the folder of the only argument. It is a separate program, so
// that a download that hangs can be killed.
import { TestWorkflowEnvironment } from '@temporalio/testing';

const downloadDir = process.argv[2];
try {
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir }, ui: false },
  });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
