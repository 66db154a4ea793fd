/** PLAIN (RFC 4616): one answer with the identity to act for, the name and the password. */
import { type Ask, checkCredentials, malformed, type PasswordCredentials } from './exchange.ts';

/** Returns the name and the password of the client. @throws SaslError */
export async function askPlain(ask: Ask): Promise<PasswordCredentials> {
  const parts = (await ask('')).split('\0');
  const [authority = '', username = '', password = ''] = parts;
  if (parts.length !== 3) malformed('The answer of PLAIN has three parts, with NUL between them');
  // No user may act for another one.
  if (authority !== '' && authority !== username)
    malformed('The identity to act for is not that of the user');
  return checkCredentials({ username, password });
}
