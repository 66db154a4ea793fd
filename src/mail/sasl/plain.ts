/** PLAIN (RFC 4616): one answer with the identity to act for, the name and the password. */
import {
  type Ask,
  checkAuthority,
  checkCredentials,
  malformed,
  type PasswordCredentials,
} from './exchange.ts';

/** Returns the name and the password of the client. @throws SaslError */
export async function askPlain(ask: Ask): Promise<PasswordCredentials> {
  const parts = (await ask('')).split('\0');
  const [authority = '', username = '', password = ''] = parts;
  if (parts.length !== 3) malformed('The answer of PLAIN has three parts, with NUL between them');
  const credentials = checkCredentials({ username, password });
  checkAuthority(authority, username);
  return credentials;
}
