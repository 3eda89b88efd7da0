/** Every code of a problem, its status and its title. A test compares this with the codes that are used. */
const entry = (status: number, title: string) => ({ status, title });

export const PROBLEM_CODES = {
  // The request itself
  invalid_request: entry(400, 'Invalid request'),
  invalid_json: entry(400, 'Malformed JSON'),
  invalid_yaml: entry(400, 'Malformed YAML'),
  too_deep: entry(400, 'Nested too deeply'),
  forbidden_key: entry(400, 'Forbidden key'),
  invalid_name: entry(400, 'Invalid name'),
  invalid_cursor: entry(400, 'Invalid cursor'),
  invalid_query: entry(400, 'Invalid filter'),
  invalid_signal: entry(400, 'Invalid request'),
  required_header_missing: entry(400, 'Required header missing'),
  signature_missing: entry(401, 'Signature missing'),
  signature_invalid: entry(401, 'Signature invalid'),
  signature_expired: entry(401, 'Signature too old'),
  host_not_allowed: entry(403, 'Host not allowed'),
  origin_not_allowed: entry(403, 'Origin not allowed'),
  resume_token_mismatch: entry(403, 'Resume token mismatch'),
  needs_override: entry(403, 'Override needed'),
  not_found: entry(404, 'Not found'),
  no_such_step: entry(404, 'No such step'),
  workflow_not_found: entry(404, 'Workflow not found'),
  version_not_found: entry(404, 'Version not found'),
  method_not_allowed: entry(405, 'Method not allowed'),
  gone: entry(410, 'Gone'),
  body_too_large: entry(413, 'Body too large'),
  payload_too_large: entry(413, 'Payload too large'),
  unsupported_media_type: entry(415, 'Unsupported media type'),

  // What stands against it
  already_decided: entry(409, 'Already decided'),
  already_voted: entry(409, 'Already voted'),
  ambiguous_step: entry(409, 'Ambiguous step'),
  not_waiting: entry(409, 'Not waiting'),
  closed: entry(409, 'Execution ended'),
  workflow_disabled: entry(409, 'Workflow disabled'),
  path_taken: entry(409, 'Webhook path taken'),
  path_resting: entry(409, 'Webhook path rests'),
  too_many: entry(409, 'Too many entries'),
  too_large: entry(409, 'Too large together'),
  version_missing: entry(409, 'Version missing'),
  hash_mismatch: entry(412, 'Precondition failed'),
  already_exists: entry(412, 'Precondition failed'),
  refused: entry(409, 'Refused'),

  // What it says
  invalid_definition: entry(422, 'Invalid definition'),
  invalid_input: entry(422, 'Invalid input'),
  not_an_employee: entry(422, 'Not an employee'),
  invalid_submission: entry(422, 'Invalid submission'),
  invalid_callback: entry(422, 'Invalid callback'),
  invalid_mapping: entry(422, 'Invalid variable mapping'),
  idempotency_conflict: entry(422, 'Request id used before'),
  expression_syntax: entry(422, 'Invalid expression'),
  unknown_transform: entry(422, 'Unknown transform'),
  expression_type: entry(422, 'Wrong type in expression'),
  expression_limit: entry(422, 'Expression too large'),
  unresolved_reference: entry(422, 'Unresolved reference'),
  secret_not_allowed: entry(422, 'Secret not allowed here'),
  too_many_unread: entry(429, 'Too many unread messages'),

  // This side
  internal_error: entry(500, 'Internal error'),
  secret_not_found: entry(500, 'Secret missing'),
  secret_unreadable: entry(500, 'Secret unreadable'),
  temporal_unreachable: entry(503, 'Temporal unreachable'),
  outcome_unknown: entry(503, 'Outcome unknown'),
} as const;

export type ProblemCode = keyof typeof PROBLEM_CODES;
