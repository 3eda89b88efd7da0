/** A mail server on loopback that keeps what it gets, and finds the links of approvals in it. */
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { expect } from 'vitest';

export interface Mailbox {
  readonly url: string;
  readonly mails: readonly string[];
  /** The links of the messages about that question, in the order of the addresses. Waits until all are there. */
  links(question: string, to: readonly string[]): Promise<string[]>;
  close(): Promise<void>;
}

export async function mailbox(): Promise<Mailbox> {
  const mails: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, callback) {
      let source = '';
      stream.on('data', (chunk: Buffer) => {
        source += chunk.toString();
      });
      stream.on('end', () => {
        mails.push(source.replaceAll('=\r\n', '').replaceAll('=3D', '='));
        callback();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  const about = (question: string) => mails.filter((mail) => mail.includes(question) && mail.includes('/approvals/'));
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    async links(question, to) {
      await expect.poll(() => about(question).length).toBe(to.length);
      return to.map((address) => {
        const line = `to: ${address.toLowerCase()}`;
        const mail = about(question).find((one) => one.toLowerCase().includes(line)) ?? '';
        return /http:\/\/signalbox\.test(\/approvals\/[\w.-]+)/.exec(mail)?.[1] ?? '';
      });
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
