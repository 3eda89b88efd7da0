interface TokenPage {
  readonly nextPageToken?: Uint8Array | null;
}

/** All pages of what Temporal answers in pages. `ask` gets the token of the page, which is empty for the first. */
export async function* tokenPages<Page extends TokenPage>(
  ask: (nextPageToken: Uint8Array) => Promise<Page>,
): AsyncGenerator<Page> {
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await ask(nextPageToken);
    yield page;
    nextPageToken = page.nextPageToken ?? new Uint8Array();
  } while (nextPageToken.length > 0);
}
