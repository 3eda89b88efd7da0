/** The screens that the console has: a line for each. Its code is loaded when it is first shown. */
import type { ComponentType } from 'preact';
import type { RouteMatch, RouteName } from './routes.ts';

/** A screen shows the route that it gets. It stays mounted while only the query changes. */
type ScreenOf<Name extends RouteName> = ComponentType<{ readonly route: RouteMatch<Name> }>;

export const SCREENS: { readonly [Name in RouteName]?: () => Promise<ScreenOf<Name>> } = {
  home: () => import('./screens/home.tsx').then(({ HomeScreen }) => HomeScreen),
  runs: () => import('./screens/runs.tsx').then(({ RunsScreen }) => RunsScreen),
  approvals: () => import('./screens/approvals.tsx').then(({ ApprovalsScreen }) => ApprovalsScreen),
  approval: () => import('./screens/approval.tsx').then(({ ApprovalScreen }) => ApprovalScreen),
  runForm: () => import('./screens/run-form.tsx').then(({ RunFormScreen }) => RunFormScreen),
  editor: () => import('./editor/editor.tsx').then(({ EditorScreen }) => EditorScreen),
  run: () => import('./screens/run.tsx').then(({ RunScreen }) => RunScreen),
  triggers: () => import('./screens/triggers.tsx').then(({ TriggersScreen }) => TriggersScreen),
  trigger: () => import('./screens/trigger.tsx').then(({ TriggerScreen }) => TriggerScreen),
  settings: () => import('./screens/settings/settings.tsx').then(({ SettingsScreen }) => SettingsScreen),
  workflows: () => import('./screens/workflows.tsx').then(({ WorkflowsScreen }) => WorkflowsScreen),
  workflow: () => import('./screens/workflow.tsx').then(({ WorkflowScreen }) => WorkflowScreen),
  versions: () => import('./screens/versions.tsx').then(({ VersionsScreen }) => VersionsScreen),
  proposal: () => import('./screens/proposal.tsx').then(({ ProposalScreen }) => ProposalScreen),
  login: () => import('./screens/login.tsx').then(({ LoginScreen }) => LoginScreen),
};
