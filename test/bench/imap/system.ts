/** A mail server that the rows of `imap` measure. The mailboxes of its users are filled once. */
import { ImapConnection, type ImapUser } from './client.ts';
import { sampleMessages } from './messages.ts';

export type ImapServer = AsyncDisposable & {
  port: number;
  /** Processes whose trees are the system under test. */
  pids: readonly number[];
  users: readonly ImapUser[];
  /** Drops what the server has stored about the structure of messages in this folder, where it does so when a client first asks. */
  forgetStructure(folder: string): Promise<void>;
  /** Resolves when the server has nothing to do in the background any more. */
  settle(): Promise<void>;
};

export type ImapSystem = ImapServer & {
  /** Logs the first user in. */
  login(): Promise<ImapConnection>;
};

/** Mailbox with the messages. */
export const FOLDER = 'Filled';
/** Messages in one command while a mailbox is filled. */
const BATCH = 200;

/** Fills a mailbox of the first user, which is created unless it is the INBOX. */
export async function fillSystem<Server extends ImapServer>(
  server: Server,
  messages: number,
  folder = FOLDER,
): Promise<Server & ImapSystem> {
  const [first] = server.users;
  if (!first) throw new Error('the server has no users');
  const login = () => ImapConnection.login(server.port, first);
  const connection = await login();
  if (folder !== 'INBOX') await connection.run(`CREATE ${folder}`);
  for (let from = 0; from < messages; from += BATCH)
    await connection.append(folder, sampleMessages(Math.min(BATCH, messages - from), from));
  connection.close();
  return { ...server, login };
}
