/**
 * Returns an address that its reader recognises and others cannot read: the first character of its local part, and its
 * domain. Links are forwarded with the mail that they stand in.
 */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf('@');
  const [first = ''] = address.slice(0, at);
  return `${first}•••${address.slice(at)}`;
}
