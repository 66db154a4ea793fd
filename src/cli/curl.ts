/** Builds a curl command line that sends an email. */

/** Returns the command line. The values need no quoting: the addresses are our own, and keys are base62. */
export function curlLine(send: { address: string; key: string; from: string; to: string }): string {
  const body = {
    from: send.from,
    to: [send.to],
    subject: 'Hello from Postrider',
    html: '<p>It works.</p>',
    type: 'transactional',
  };
  return [
    `curl ${send.address}/v1/emails`,
    `-H 'Authorization: Bearer ${send.key}'`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(body)}'`,
  ].join(' \\\n  ');
}
