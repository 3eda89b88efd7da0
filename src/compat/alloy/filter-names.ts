/** The names by which alloy calls filters of run lists → their own. Every run list takes both. */
export const ALLOY_FILTER_NAMES = {
  workflow_id: 'workflowId',
  run_id: 'executionId',
  runId: 'executionId',
  execution_id: 'executionId',
  conversation_id: 'conversationId',
  ai_employee_id: 'aiEmployeeId',
  employeeId: 'aiEmployeeId',
  trigger_id: 'triggerId',
  trigger_type: 'triggerType',
  waiting_for: 'waitingFor',
} as const;
