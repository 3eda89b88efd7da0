/** The console's beginning: the frame at once, and in it the screen of the address. */
import { Component, type ComponentChildren, type ComponentType, render } from 'preact';
import { useGet, useResource } from './data/resource.ts';
import { loadMe, startSession, useSession } from './data/session.ts';
import type { ApprovalCount } from './data/types.ts';
import { hasScreen, navigate, startNavigation, usePlace } from './navigation.ts';
import { Button } from './parts/button.tsx';
import { Frame, type FrameLink } from './parts/frame.tsx';
import { startKeys } from './parts/keys.tsx';
import { LoadingLine } from './parts/loading.tsx';
import { Problem } from './parts/problem.tsx';
import { Screen } from './parts/screen.tsx';
import { addressOf, type Place, type RouteName } from './routes.ts';
import { SCREENS } from './screens.ts';
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';

const COUNT_MS = 15_000;

/** How many questions wait for the caller. */
function Waiting() {
  const count = useGet<ApprovalCount>('/api/approvals/count', { pollMs: COUNT_MS });
  const mine = count.data?.mine ?? 0;
  return mine === 0 ? null : (
    <span class="count">
      {mine}
      <span class="hidden"> wait for you</span>
    </span>
  );
}

const LINKS: readonly FrameLink[] = [
  { to: 'runs', text: 'Runs', holds: ['runs', 'run'] },
  { to: 'approvals', text: 'Approvals', holds: ['approvals', 'approval'], beside: <Waiting /> },
  { to: 'workflows', text: 'Workflows', holds: ['workflows', 'workflow', 'versions', 'proposal', 'runForm', 'editor'] },
  { to: 'triggers', text: 'Triggers', holds: ['triggers', 'trigger'] },
  { to: 'settings', text: 'Settings', params: { section: 'secrets' }, holds: ['settings'] },
];

type AnyScreen = ComponentType<{ readonly place: Place }>;

function App() {
  const place = usePlace();
  const { me, problem } = useSession();
  const links = LINKS.filter(({ to }) => hasScreen(to));
  const isLogin = place?.name === 'login';
  return (
    <Frame links={me === undefined ? [] : links}>
      {problem === undefined ? null : <Problem problem={problem} again={() => void loadMe()} />}
      {place === undefined || !hasScreen(place.name) ? <Unknown /> : null}
      {place !== undefined && hasScreen(place.name) && (isLogin || me !== undefined) ? (
        <Boundary key={place.path}>
          <Shown place={place} />
        </Boundary>
      ) : null}
    </Frame>
  );
}

/** The screen of a place, once its code is there. */
function Shown({ place }: { readonly place: Place }) {
  const {
    data: Found,
    problem,
    isSlow,
  } = useResource(place.name, async () => (await SCREENS[place.name]?.()) as AnyScreen);
  if (problem !== undefined) return <Changed />;
  if (Found === undefined) return isSlow ? <LoadingLine what="the screen" /> : null;
  return <Found place={place} />;
}

/** The files of a page that was opened before an upgrade are gone. */
const Changed = () => (
  <Screen title="This screen could not be loaded">
    <p>The gateway has another version of the console now, or cannot be reached. Load the page again.</p>
    <div>
      <Button kind="primary" onClick={() => location.reload()}>
        Load again
      </Button>
    </div>
  </Screen>
);

const Unknown = () => (
  <Screen title="There is nothing here">
    <p>
      The console has no such address. <a href={addressOf('home')}>Go to the beginning.</a>
    </p>
  </Screen>
);

/** Keeps a fault of one screen from emptying the page. */
class Boundary extends Component<{ readonly children: ComponentChildren }, { readonly fault?: unknown }> {
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
  startSession((address) => navigate(address, { replace: true }));
  startKeys();
  render(<App />, root);
  void loadMe();
}
