import { useEffect, useState } from 'preact/hooks';
import { useAction } from '../data/resource.ts';
import { logIn, useMe } from '../data/session.ts';
import { navigate } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { Form, TextField } from '../parts/fields.tsx';
import { Problem } from '../parts/problem.tsx';
import { Screen } from '../parts/screen.tsx';
import { loginTarget, type RouteMatch } from '../routes.ts';

/** Asks for an API key, then opens the requested address. */
export function LoginScreen({ route }: { readonly route: RouteMatch<'login'> }) {
  const me = useMe();
  const [key, setKey] = useState('');
  const login = useAction(async () => logIn(key.trim()));
  const to = loginTarget(route.query['to']);
  // A user who is logged in, or needs no login, is redirected.
  useEffect(() => {
    if (me !== undefined) navigate(to, { replace: true });
  }, [me, to]);
  return (
    <div class="narrow">
      <Screen title="Log in">
        <Form
          class="form card"
          onSubmit={() => {
            if (key.trim() !== '') void login.run().then((isDone) => isDone && setKey(''));
          }}
        >
          <TextField
            label="API key"
            type="password"
            hint="An admin makes keys in the settings, or by: npx signalbox keys create NAME --role ROLE"
            value={key}
            onValue={setKey}
            isRequired
          />
          <Problem problem={login.problem} />
          <div class="actions">
            <Button
              type="submit"
              kind="primary"
              isBusy={login.isRunning}
              isDisabled={key.trim() === ''}
              disabledReason="Enter a key."
            >
              Log in
            </Button>
          </div>
        </Form>
      </Screen>
    </div>
  );
}
