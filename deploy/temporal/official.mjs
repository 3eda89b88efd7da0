// Downloads the Temporal dev server the way the SDK does it, into the folder given as the only argument. A program of
// its own, so that a download that hangs can be ended from outside.
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
