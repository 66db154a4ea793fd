/** A client of POP3 that deletes messages of INBOX. */
import { connect } from 'node:net';
import { createClient } from '../../mail/pop3/fixture.ts';

type Login = { address: string; password: string };

/** Deletes the messages with these UIDs. Returns the answer to the last command; `closed` when the connection ended before. */
export async function deleteByPop3(port: number, login: Login, uids: readonly number[]): Promise<string> {
  const client = createClient(connect({ host: '127.0.0.1', port, noDelay: true }));
  try {
    let answer = await client.line();
    for (const command of [`USER ${login.address}`, `PASS ${login.password}`])
      if (answer.startsWith('+OK')) answer = await client.ask(command);
    if (!answer.startsWith('+OK')) return answer;
    const [, ...listed] = await client.askLong('UIDL');
    const numbers = listed.flatMap((line) => {
      const [, number, uid] = /^(\d+) \d+\.(\d+)$/.exec(line) ?? [];
      return uids.includes(Number(uid)) ? [number] : [];
    });
    for (const number of numbers) await client.ask(`DELE ${number}`);
    return await client.ask('QUIT');
  } finally {
    client.socket.destroy();
  }
}
