/** Saves a text: shows its changes, and after a conflict both texts; or proposes it for review. */
import { useState } from 'preact/hooks';
import { apiPath, post, request } from '../data/api.ts';
import { ApiProblem } from '../data/problem.ts';
import { useAction } from '../data/resource.ts';
import { hasScreen, navigate } from '../navigation.ts';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { Actions, Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/fields.tsx';
import { Problem } from '../parts/problem.tsx';
import { addressOf } from '../routes.ts';
import { Diff } from './diff.tsx';
import { mediaTypeOf } from './media-type.ts';
import { readStoredText, type StoredText } from './stored-text.ts';

interface SaveProps {
  readonly slug: string;
  /** The stored text that the edited text is based on. */
  readonly base: StoredText;
  readonly text: string;
  readonly isProposal: boolean;
  readonly onClose: () => void;
  /** Called after saving. `sent`: the text that was saved. */
  readonly onSaved: (now: StoredText, sent: string) => void;
  /** Called with the new base and the merged text. */
  readonly onMerged: (base: StoredText, text: string) => void;
}

export function SaveDialog(props: SaveProps) {
  const { slug, base, text, isProposal, onClose, onSaved, onMerged } = props;
  const [notes, setNotes] = useState('');
  const [theirs, setTheirs] = useState<StoredText>();
  const [mine, setMine] = useState(text);
  const mergeBase = theirs ?? base;
  const save = useAction(async () => {
    const tag = mergeBase.etag;
    try {
      await request('PUT', apiPath`/api/workflows/${slug}`, {
        rawBody: { media: mediaTypeOf(mine, base.media), text: mine },
        query: { notes },
        headers: tag === '' ? { 'If-None-Match': '*' } : { 'If-Match': tag },
      });
    } catch (thrown) {
      if (!(thrown instanceof ApiProblem) || thrown.status !== 412) throw thrown;
      setTheirs(await readStoredText(slug));
      return;
    }
    onSaved(await readStoredText(slug), mine);
    announce('Saved.');
  });
  const propose = useAction(async () => {
    const body = { baseWorkflowHash: base.hash, text: mine, notes: notes || undefined };
    const made = await post<{ id: string }>(apiPath`/api/workflows/${slug}/proposals`, body);
    announce('Proposed.');
    onClose();
    if (hasScreen('proposal')) navigate(addressOf('proposal', { slug, id: made.id }));
  });
  const act = isProposal ? propose : save;
  const title = theirs !== undefined ? 'Somebody else has saved' : isProposal ? 'Propose this change' : 'Save';
  return (
    <Dialog title={title} onClose={onClose} isWide>
      {theirs === undefined ? (
        <Diff before={base.etag === '' ? '' : base.text} after={mine} names={['Stored', 'Yours']} />
      ) : (
        <>
          <p role="alert">
            {theirs.version === undefined ? 'The workflow was deleted' : `Version ${theirs.version} was stored`} since
            you began. At the left is what is stored now, at the right yours: edit it, and take what you want to keep.
          </p>
          <Diff
            key={theirs.etag}
            before={theirs.etag === '' ? '' : theirs.text}
            after={mine}
            names={['Stored now', 'Yours']}
            onAfterChange={setMine}
          />
        </>
      )}
      <TextField
        label="Notes"
        hint={isProposal ? 'Why, for those who review it.' : 'Why, for the history.'}
        value={notes}
        onValue={setNotes}
      />
      <Problem problem={act.problem} />
      <Actions>
        {theirs === undefined ? (
          <Button onClick={onClose}>Go on editing</Button>
        ) : (
          <>
            <Button onClick={() => onMerged(theirs, theirs.text)}>Drop mine</Button>
            <Button onClick={() => onMerged(theirs, mine)}>Go on editing</Button>
          </>
        )}
        <Button
          kind="primary"
          needs={isProposal ? 'runner' : 'editor'}
          onClick={() => void act.run()}
          isBusy={act.isRunning}
          isDisabled={mine === mergeBase.text && mergeBase.etag !== ''}
          disabledReason="Nothing differs from what is stored."
        >
          {isProposal ? 'Propose' : theirs === undefined ? 'Save' : 'Save mine'}
        </Button>
      </Actions>
    </Dialog>
  );
}
