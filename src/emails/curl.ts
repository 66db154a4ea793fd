/** Builds curl command lines with which somebody tries a new API key. */

/** Stands for a key that nobody knows any more, as a variable of the shell. */
export const UNKNOWN_KEY = '$KEY';

/** Returns the command line. Keys are base62 and need no quoting; an address may have an apostrophe. */
export function curlLine(send: { address: string; key: string; from: string; to: string }): string {
  const body = {
    from: send.from,
    to: [send.to],
    subject: 'Hello from Postrider',
    html: '<p>It works.</p>',
    type: 'transactional',
  };
  // A shell replaces variables between double quotes alone.
  const quote = send.key === UNKNOWN_KEY ? '"' : "'";
  return [
    `curl ${send.address}/v1/emails`,
    `-H ${quote}Authorization: Bearer ${send.key}${quote}`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`,
  ].join(' \\\n  ');
}

/** Returns a command line that lists the last email, for a key that only reads. */
export function readingCurlLine({ address, key }: { address: string; key: string }): string {
  return `curl '${address}/v1/emails?limit=1' -H 'Authorization: Bearer ${key}'`;
}
