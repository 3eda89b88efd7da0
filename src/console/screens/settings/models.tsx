import { useEffect, useState } from 'preact/hooks';
import type { Json as JsonValue } from '../../../json/json.ts';
import { apiPath, post, put } from '../../data/api.ts';
import { useAction } from '../../data/resource.ts';
import type { Execution, Model } from '../../data/types.ts';
import { Button } from '../../parts/button.tsx';
import { Actions, Dialog } from '../../parts/dialog.tsx';
import { CheckField, SelectField, TextField, useTextFields } from '../../parts/fields.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { RunLink } from '../../parts/link.tsx';
import { Problem } from '../../parts/problem.tsx';
import { StatusBadge } from '../../parts/status.tsx';
import type { Column } from '../../parts/table.tsx';
import { ListSection, MissingSecrets, useList } from './list-section.tsx';

type Provider = Model['provider'];
const COLUMNS: readonly Column<Model>[] = [
  {
    label: 'Name',
    isPlain: true,
    cell: ({ name, default: isDefault }) => (
      <>
        <code>{name}</code> {isDefault ? <span class="badge">default</span> : null}
      </>
    ),
  },
  { label: 'Provider', cell: ({ provider }) => provider },
  { label: 'Model', cell: ({ model }) => <code>{model}</code> },
  { label: 'API key', isExtra: true, cell: ({ apiKeySecret }) => apiKeySecret ?? 'none' },
  {
    label: 'USD for a million tokens',
    isExtra: true,
    cell: ({ prices }) => (prices === undefined ? '' : `${prices.input} in, ${prices.output} out`),
  },
];

const PROVIDERS: readonly { readonly value: Provider; readonly label: string }[] = [
  { value: 'openai', label: 'OpenAI' },
  { value: 'anthropic', label: 'Anthropic' },
  { value: 'google', label: 'Google' },
  { value: 'openai-compatible', label: 'Compatible with OpenAI' },
];

export function ModelsSection() {
  const list = useList<Model>('/api/models', 'viewer');
  const [stored, setStored] = useState<Model>();
  return (
    <ListSection
      about="How steps reach language models. API keys are secrets, which a model names."
      readRole="viewer"
      writeRole="editor"
      list={list}
      noun="model"
      label="Models"
      notice={<MissingSecrets item={stored} />}
      empty="Models stand here by the names that steps use. The first one is the default."
      columns={COLUMNS}
      actions={[
        { kind: 'test', text: 'Test…' },
        { kind: 'change', text: 'Change…' },
      ]}
      deletion={{
        pathOf: ({ name }) => apiPath`/api/models/${name}`,
        about: () => 'Steps that use it fail from then on.',
      }}
      dialog={({ kind, item }, close) =>
        kind === 'test' && item !== undefined ? (
          <TestDialog name={item.name} onClose={() => close(false)} />
        ) : (
          <ModelDialog model={item} onStored={setStored} onClose={close} />
        )
      }
    />
  );
}

interface ModelDialogProps {
  readonly model: Model | undefined;
  readonly onStored: (model: Model) => void;
  readonly onClose: (isChanged: boolean) => void;
}

function ModelDialog({ model, onStored, onClose }: ModelDialogProps) {
  const [texts, field] = useTextFields({
    name: model?.name ?? '',
    provider: model?.provider ?? 'openai',
    model: model?.model ?? '',
    baseUrl: model?.baseUrl ?? '',
    apiKeySecret: model?.apiKeySecret ?? '',
    input: String(model?.prices?.input ?? ''),
    cachedInput: String(model?.prices?.cachedInput ?? ''),
    output: String(model?.prices?.output ?? ''),
  });
  const [isDefault, setDefault] = useState(model?.default ?? false);
  const { provider, input, cachedInput, output } = texts;
  const name = texts.name.trim();
  const prices = {
    input: Number(input),
    output: Number(output),
    cachedInput: cachedInput === '' ? undefined : Number(cachedInput),
  };
  const body = {
    provider,
    model: texts.model.trim(),
    baseUrl: texts.baseUrl.trim() || undefined,
    apiKeySecret: texts.apiKeySecret.trim() || undefined,
    prices: input === '' && output === '' && cachedInput === '' ? undefined : prices,
    default: isDefault,
  };
  return (
    <FormDialog
      title={model === undefined ? 'New model' : `Change ${model.name}`}
      save={async () => onStored(await put<Model>(apiPath`/api/models/${name}`, body))}
      onClose={onClose}
      isReady={name !== '' && body.model !== ''}
      disabledReason="Enter a name and the provider's name of the model."
    >
      {(problemAt) => (
        <>
          <TextField
            label="Name"
            hint="Steps use it by this name."
            {...field('name')}
            isReadOnly={model !== undefined}
            isRequired
          />
          <SelectField label="Provider" {...field('provider')} choices={PROVIDERS} />
          <TextField
            label="Model"
            hint="The provider's name of it."
            {...field('model')}
            error={problemAt('/model')}
            isRequired
          />
          <TextField
            label="Address of the API"
            type="url"
            hint={
              provider === 'openai-compatible' ? 'Up to the part before /chat/completions.' : "Empty: the provider's."
            }
            {...field('baseUrl')}
            error={problemAt('/baseUrl')}
            isRequired={provider === 'openai-compatible'}
          />
          <TextField
            label="Secret with the API key"
            hint="The name of a secret."
            {...field('apiKeySecret')}
            error={problemAt('/apiKeySecret')}
          />
          <TextField label="USD for a million input tokens" type="number" step="any" {...field('input')} />
          <TextField
            label="USD for a million cached input tokens"
            hint="Empty: the price of input."
            type="number"
            step="any"
            {...field('cachedInput')}
          />
          <TextField label="USD for a million output tokens" type="number" step="any" {...field('output')} />
          <CheckField label="Steps without a model use it" isChecked={isDefault} onChange={setDefault} />
        </>
      )}
    </FormDialog>
  );
}

type TestRun = Pick<Execution, 'status' | 'error'> & { readonly executionId: string; readonly output?: JsonValue };

/** Asks the model for a word, by a run of one step. */
function TestDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const [tested, setTested] = useState<TestRun>();
  const test = useAction(async () => {
    setTested(undefined);
    setTested(await post<TestRun>('/api/executions', { definition: testDefinition(name) }, { query: { wait: 25 } }));
  });
  useEffect(() => {
    void test.run();
  }, []);
  return (
    <Dialog title={`Test of ${name}`} onClose={onClose}>
      <p class="dim">A run of one step asks the model for one word. It costs a few tokens.</p>
      <Problem problem={test.problem} />
      {tested === undefined ? null : (
        <div class="stack" role="status">
          <p>
            <StatusBadge status={tested.status} /> <RunLink id={tested.executionId}>Run</RunLink>
          </p>
          {tested.error === undefined ? null : (
            <p class="error">
              <code>{tested.error.code}</code> {tested.error.message}
            </p>
          )}
          {tested.output === undefined ? null : <JsonTree value={tested.output} name="answer" />}
        </div>
      )}
      <Actions>
        <Button isBusy={test.isRunning} onClick={() => void test.run()}>
          Test again
        </Button>
      </Actions>
    </Dialog>
  );
}

const testDefinition = (model: string) => ({
  name: `Test of the model ${model}`.slice(0, 100),
  slug: 'model-test',
  steps: {
    ask: {
      stepType: 'llm',
      retry: { maxAttempts: 1 },
      config: { model, userPrompt: 'Answer with the word OK.', maxTokens: 200 },
      nextSteps: { success: 'answer' },
    },
    answer: { stepType: 'finish', config: { output: '{{ steps.ask.output.data }}' } },
  },
});
