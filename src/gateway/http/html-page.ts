/** Pages without scripts that load nothing from other hosts, and that no other page shows in a frame. */

export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;

/** A whole document. `head` is what it says of itself, and `body` what is in it. */
export const htmlPage = (head: string, style: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`;
