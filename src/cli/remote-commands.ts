/** The commands that need no Temporal, but a gateway or nothing at all: those of the package signalbox-cli. */
import { addCancel, addTerminate } from './commands/cancel.ts';
import { addImport } from './commands/import.ts';
import { addKeys } from './commands/keys.ts';
import { addList } from './commands/list.ts';
import { addLogs } from './commands/logs.ts';
import { addPromote } from './commands/promote.ts';
import { addProposals } from './commands/proposals.ts';
import { addPropose } from './commands/propose.ts';
import { addPush } from './commands/push.ts';
import { addApprove, addResume } from './commands/resume.ts';
import { addFork, addRetry } from './commands/retry.ts';
import { addRun } from './commands/run.ts';
import { addSecrets } from './commands/secrets.ts';
import { addShow } from './commands/show.ts';
import { addMessage, addSubmit } from './commands/submit.ts';
import { addTriggers } from './commands/triggers.ts';
import { addValidate } from './commands/validate.ts';
import { addWorkflows } from './commands/workflows.ts';
import type { CommandGroup } from './program.ts';

export const REMOTE_COMMANDS: readonly CommandGroup[] = [
  ['Definitions:', addValidate, addImport, addPush, addPropose, addProposals, addWorkflows, addPromote],
  [
    'Executions:',
    addRun,
    addList,
    addShow,
    addLogs,
    addResume,
    addApprove,
    addSubmit,
    addMessage,
    addCancel,
    addTerminate,
    addRetry,
    addFork,
  ],
  ['Organization:', addTriggers, addSecrets, addKeys],
];
