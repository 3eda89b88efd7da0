import { useState } from 'preact/hooks';
import { changeQuery } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { Actions, Dialog } from '../parts/dialog.tsx';
import { Form, SelectField, TextField } from '../parts/fields.tsx';
import { Icon } from '../parts/icons.tsx';
import { addressOf } from '../routes.ts';
import { FILTERS, filtersIn, parseViews, type SavedView } from './runs-filter.ts';

interface DialogProps {
  readonly query: { readonly [name: string]: string };
  readonly onClose: () => void;
}

/** All filters in a form. */
export function FilterDialog({ query, onClose }: DialogProps) {
  const [values, setValues] = useState<{ readonly [name: string]: string }>(filtersIn(query));
  return (
    <Dialog title="Filter runs" onClose={onClose}>
      <Form
        onSubmit={() => {
          onClose();
          changeQuery(Object.fromEntries(FILTERS.map(({ name }) => [name, values[name]?.trim()])), { replace: false });
        }}
      >
        {FILTERS.map(({ name, label, hint, type, choices }) => {
          const field = {
            label,
            hint,
            value: values[name] ?? '',
            onValue: (value: string) => setValues({ ...values, [name]: value }),
          };
          return choices === undefined ? (
            <TextField key={name} {...field} type={type ?? 'text'} />
          ) : (
            <SelectField key={name} {...field} choices={[{ value: '', label: 'Any' }, ...choices]} />
          );
        })}
        <Actions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary">
            Apply
          </Button>
        </Actions>
      </Form>
    </Dialog>
  );
}

const VIEWS_STORAGE_KEY = 'signalbox.run-views';

const readViews = (): readonly SavedView[] => parseViews(localStorage.getItem(VIEWS_STORAGE_KEY));
const storeViews = (views: readonly SavedView[]): void =>
  localStorage.setItem(VIEWS_STORAGE_KEY, JSON.stringify(views));

/** Filters that this browser stores under a name. */
export function ViewsDialog({ query, onClose }: DialogProps) {
  const [views, setViews] = useState(readViews);
  const [name, setName] = useState('');
  const change = (next: readonly SavedView[]): void => {
    storeViews(next);
    setViews(next);
  };
  return (
    <Dialog title="Views" onClose={onClose}>
      {views.length === 0 ? <p class="dim">Save the present filters under a name to find them here again.</p> : null}
      <ul class="plain stack views">
        {views.map((view) => (
          <li key={view.name}>
            <a href={addressOf('runs', {}, view.query)} onClick={onClose}>
              {view.name}
            </a>
            <Button
              kind="quiet"
              label={`Delete the view ${view.name}`}
              onClick={() => change(views.filter((other) => other !== view))}
            >
              <Icon name="cross" size={11} />
            </Button>
          </li>
        ))}
      </ul>
      <Form
        onSubmit={() => {
          const wanted = name.trim();
          if (wanted === '') return;
          change([...views.filter((view) => view.name !== wanted), { name: wanted, query }]);
          setName('');
        }}
      >
        <TextField label="Name of the present filters" value={name} onValue={setName} />
        <Actions>
          <Button type="submit" kind="primary" isDisabled={name.trim() === ''} disabledReason="Enter a name.">
            Save
          </Button>
        </Actions>
      </Form>
    </Dialog>
  );
}
