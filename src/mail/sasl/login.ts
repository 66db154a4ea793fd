/** LOGIN, which is not standardised, and which Outlook still uses: the name and the password in two answers. */
import { type Ask, checkCredentials, type PasswordCredentials } from './exchange.ts';

/** Returns the name and the password of the client, which expects these two challenges, letter by letter. @throws SaslError */
export async function askLogin(ask: Ask): Promise<PasswordCredentials> {
  const username = await ask('Username:');
  return checkCredentials({ username, password: await ask('Password:') });
}
