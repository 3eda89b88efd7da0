interface TokenPage {
  readonly nextPageToken?: Uint8Array | null;
}

/** All pages of a paginated call. `fetchPage` gets the token of the page, which is empty for the first. */
export async function* tokenPages<Page extends TokenPage>(
  fetchPage: (nextPageToken: Uint8Array) => Promise<Page>,
): AsyncGenerator<Page> {
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await fetchPage(nextPageToken);
    yield page;
    nextPageToken = page.nextPageToken ?? new Uint8Array();
  } while (nextPageToken.length > 0);
}
