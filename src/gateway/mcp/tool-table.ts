/** The tools of `/mcp`, by the names of mesh. Each is a route of the API; tools.ts makes the rest from it. */
import type { JsonObject } from '../../json/json.ts';

export interface ToolSpec {
  readonly name: string;
  /** The id of the route. */
  readonly route: string;
  /** What readers of the route's own summary do not know. */
  readonly about?: string;
  /** The body of the route is a definition, which the tool takes as its argument `definition`. */
  readonly takesDefinition?: true;
  /** Arguments that must be given, although the route can do without them. */
  readonly required?: readonly string[];
  /** Members of the body that the tool gives. */
  readonly fixed?: JsonObject;
  /** Members of the body that the tool does not take. */
  readonly omitted?: readonly string[];
  /** Headers that the tool sends where no argument says otherwise. */
  readonly headers?: { readonly [name: string]: string };
  /** Other names of arguments, which callers know from mesh: name → argument. */
  readonly aliases?: { readonly [name: string]: string };
  /** What follows the last parameter of the path. The route answers with a text then. */
  readonly pathSuffix?: string;
  /** It changes nothing, although its route is no GET. */
  readonly isReadOnly?: true;
}

export const TOOLS: readonly ToolSpec[] = [
  {
    name: 'READ_MANUAL',
    route: 'docsPage',
    about:
      'The answer is Markdown. `page` is `definition` (the language), `expressions`, a step kind such as `approval`, ' +
      'or another name that the page `index` lists.',
    pathSuffix: '.md',
  },
  { name: 'COLLECTION_WORKFLOW_LIST', route: 'listWorkflows' },
  { name: 'COLLECTION_WORKFLOW_GET', route: 'getWorkflow', aliases: { id: 'slug' } },
  {
    name: 'COLLECTION_WORKFLOW_CREATE',
    route: 'storeWorkflow',
    about: 'Refused if the slug is taken.',
    takesDefinition: true,
    headers: { 'if-none-match': '*' },
  },
  {
    name: 'COLLECTION_WORKFLOW_UPDATE',
    route: 'putWorkflow',
    about: 'The definition replaces the stored one. Refused if there is none.',
    takesDefinition: true,
    headers: { 'if-match': '*' },
    aliases: { id: 'slug' },
  },
  { name: 'COLLECTION_WORKFLOW_DELETE', route: 'deleteWorkflow', aliases: { id: 'slug' } },
  { name: 'VALIDATE_WORKFLOW', route: 'validateWorkflow', takesDefinition: true, isReadOnly: true },
  {
    name: 'DRY_RUN_WORKFLOW',
    route: 'runInline',
    about: 'This tool always simulates: `presets` stand in for the outputs of steps.',
    required: ['definition'],
    fixed: { dryRun: true },
    omitted: ['workflowConfig', 'stepsConfig', 'organizationId', 'triggeredBy', 'triggerData', 'clientRequestId'],
    isReadOnly: true,
  },
  { name: 'PROPOSE_WORKFLOW_CHANGE', route: 'propose' },
  { name: 'COLLECTION_WORKFLOW_EXECUTION_LIST', route: 'listExecutions' },
  { name: 'COLLECTION_WORKFLOW_EXECUTION_GET', route: 'getExecution', aliases: { id: 'executionId' } },
  {
    name: 'COLLECTION_WORKFLOW_EXECUTION_CREATE',
    route: 'runWorkflow',
    aliases: { workflow_collection_id: 'workflowId' },
  },
  {
    name: 'GET_STEP_RESULT',
    route: 'listSteps',
    about: 'Answers the visits of one step with their outputs.',
    required: ['step'],
  },
  { name: 'GET_EXECUTION_RESULT', route: 'getResult' },
  { name: 'CANCEL_EXECUTION', route: 'cancelExecution' },
  { name: 'RESUME_EXECUTION', route: 'retryExecution' },
  { name: 'LIST_APPROVALS', route: 'listApprovals' },
  { name: 'DECIDE_APPROVAL', route: 'decide' },
  { name: 'SUBMIT_INPUT', route: 'submit' },
  {
    name: 'RECORDING_CREATE',
    route: 'createRecording',
    about: 'Or call tools with RECORDING_CALL_TOOL, without a second connection.',
  },
  { name: 'RECORDING_LIST', route: 'listRecordings' },
  { name: 'RECORDING_GET', route: 'getRecording' },
  { name: 'RECORDING_UPDATE', route: 'changeRecording' },
  { name: 'RECORDING_DELETE', route: 'deleteRecording' },
  { name: 'RECORDING_CALL_TOOL', route: 'recordCall' },
  { name: 'RECORDING_APPEND_STEP', route: 'appendRecordedStep' },
  { name: 'RECORDING_GET_STEP', route: 'getRecordedStep' },
  { name: 'RECORDING_SET_STEP_RESULT', route: 'presetRecordedStep' },
  { name: 'RECORDING_DELETE_STEP', route: 'dropRecordedStep' },
  { name: 'RECORDING_SUGGEST_REFERENCES', route: 'suggestReferences' },
  { name: 'RECORDING_CONFIRM_REFERENCES', route: 'confirmReferences' },
  { name: 'RECORDING_GET_DEFINITION', route: 'getRecordedDefinition' },
  { name: 'RECORDING_SAVE', route: 'saveRecording' },
  { name: 'RECORDING_REPLAY', route: 'replayRecording' },
];
