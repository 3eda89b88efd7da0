import { useEffect, useState } from 'preact/hooks';
import { announce } from './announcer.tsx';
import { Button } from './button.tsx';
import { Icon } from './icons.tsx';

/** Puts text on the clipboard, and says so. */
async function copyText(text: string, what: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    announce(`Copied ${what}.`);
    return true;
  } catch {
    announce('The browser does not allow to copy.');
    return false;
  }
}

interface CopyProps {
  readonly text: string;
  /** What is copied, for the name of the button: `the address`. */
  readonly what: string;
  readonly children?: string;
}

/** A button that copies text, and shows for two seconds that it has. */
export function CopyButton({ text, what, children }: CopyProps) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return undefined;
    const timer = setTimeout(() => setDone(false), 2_000);
    return () => clearTimeout(timer);
  }, [isDone]);
  return (
    <Button
      kind="quiet"
      label={children === undefined ? `Copy ${what}` : undefined}
      onClick={() => void copyText(text, what).then(setDone)}
    >
      <Icon name={isDone ? 'check' : 'copy'} size={13} />
      {children}
    </Button>
  );
}

/** Lets the browser save text as a file. */
export function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
