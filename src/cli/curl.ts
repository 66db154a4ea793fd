/** Builds a curl command line that sends an email. */

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
