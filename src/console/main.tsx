/** The entry of the console: the page frame, and in it the screen of the address. */
import { Component, type ComponentChildren, type ComponentType, render } from 'preact';
import { useGet, useResource } from './data/resource.ts';
import { loadMe, startLoginRedirect, useSession } from './data/session.ts';
import type { ApprovalCount } from './data/types.ts';
import { hasScreen, navigate, startNavigation, useRouteMatch } from './navigation.ts';
import { Button } from './parts/button.tsx';
import { LoadingLine } from './parts/loading.tsx';
import { type NavigationLink, PageFrame } from './parts/page-frame.tsx';
import { Problem } from './parts/problem.tsx';
import { Screen } from './parts/screen.tsx';
import { startShortcuts } from './parts/shortcuts.tsx';
import { addressOf, type RouteMatch, type RouteName } from './routes.ts';
import { SCREENS } from './screens.ts';
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';

const COUNT_POLL_MS = 15_000;

/** How many questions wait for the caller. */
function WaitingCount() {
  const count = useGet<ApprovalCount>('/api/approvals/count', { pollMs: COUNT_POLL_MS });
  const mine = count.data?.mine ?? 0;
  return mine === 0 ? null : (
    <span class="count">
      {mine}
      <span class="hidden"> wait for you</span>
    </span>
  );
}

const LINKS: readonly NavigationLink[] = [
  { to: 'runs', text: 'Runs', childRoutes: ['runs', 'run'] },
  { to: 'approvals', text: 'Approvals', childRoutes: ['approvals', 'approval'], badge: <WaitingCount /> },
  {
    to: 'workflows',
    text: 'Workflows',
    childRoutes: ['workflows', 'workflow', 'versions', 'proposal', 'runForm', 'editor'],
  },
  { to: 'triggers', text: 'Triggers', childRoutes: ['triggers', 'trigger'] },
  { to: 'settings', text: 'Settings', params: { section: 'secrets' }, childRoutes: ['settings'] },
];

type AnyScreen = ComponentType<{ readonly route: RouteMatch }>;

function App() {
  const route = useRouteMatch();
  const { me, problem } = useSession();
  const links = LINKS.filter(({ to }) => hasScreen(to));
  const isLogin = route?.name === 'login';
  return (
    <PageFrame links={me === undefined ? [] : links}>
      {problem === undefined ? null : <Problem problem={problem} onRetry={() => void loadMe()} />}
      {route === undefined || !hasScreen(route.name) ? <NotFound /> : null}
      {route !== undefined && hasScreen(route.name) && (isLogin || me !== undefined) ? (
        <ErrorBoundary key={route.path}>
          <LoadedScreen route={route} />
        </ErrorBoundary>
      ) : null}
    </PageFrame>
  );
}

/** The screen of a route, once its code has loaded. */
function LoadedScreen({ route }: { readonly route: RouteMatch }) {
  const {
    data: ScreenComponent,
    problem,
    isSlow,
  } = useResource(route.name, async () => (await SCREENS[route.name]?.()) as AnyScreen);
  if (problem !== undefined) return <ScreenLoadFailed />;
  if (ScreenComponent === undefined) return isSlow ? <LoadingLine what="the screen" /> : null;
  return <ScreenComponent route={route} />;
}

/** The files of a page that was opened before an upgrade are gone. */
const ScreenLoadFailed = () => (
  <Screen title="This screen could not be loaded">
    <p>The gateway has another version of the console now, or cannot be reached. Load the page again.</p>
    <div>
      <Button kind="primary" onClick={() => location.reload()}>
        Load again
      </Button>
    </div>
  </Screen>
);

const NotFound = () => (
  <Screen title="There is nothing here">
    <p>
      The console has no such address. <a href={addressOf('home')}>Go to the beginning.</a>
    </p>
  </Screen>
);

/** Shows an error instead of a screen that throws. */
class ErrorBoundary extends Component<{ readonly children: ComponentChildren }, { readonly fault?: unknown }> {
  static override getDerivedStateFromError(fault: unknown) {
    return { fault };
  }
  override componentDidCatch(fault: unknown): void {
    console.error(fault);
  }
  override render() {
    if (this.state.fault === undefined) return this.props.children;
    return (
      <Screen title="This screen has failed">
        <p>{String(this.state.fault)}</p>
        <div>
          <Button onClick={() => this.setState({ fault: undefined })}>Try again</Button>
        </div>
      </Screen>
    );
  }
}

const root = document.getElementById('app');
if (root !== null) {
  startNavigation(Object.keys(SCREENS) as RouteName[]);
  startLoginRedirect((address) => navigate(address, { replace: true }));
  startShortcuts();
  render(<App />, root);
  void loadMe();
}
