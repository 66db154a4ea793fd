/** The doors of rooms: which of their inner folders other rooms import from. */
import type { Source } from './source.ts';

/** Foundations are libraries: each of their files is for everyone. */
const FOUNDATIONS = ['system', 'db', 'blobs', 'http', 'mail', 'objects', 'config', 'tasks'];
/** Matches the files that put the rooms together. */
const ROOT = /^(?:cli\/|[\w-]+\.ts$)/;

/**
 * A room is entered by the files that lie directly in it. These inner folders are entered as well, for a reason. All others are private to
 * their room.
 */
const OPEN_FOLDERS: ReadonlyMap<string, string> = new Map([
  ['accounts/messages', 'Programs reach the messages of a mailbox over HTTP.'],
  ['audiences/contacts', 'Opt-in, complaints and broadcasts change contacts by the functions of the API.'],
  ['audiences/csv', 'A page shows how a file would be imported.'],
  ['audiences/opt-in', 'A confirmation is the last step of an opt-in.'],
  ['audiences/reach', 'A broadcast goes to those whom an audience reaches.'],
  ['audiences/segments', 'A broadcast goes to a segment, whose contacts it enumerates.'],
  ['broadcasts/clicked-links', 'A page shows which links of a broadcast were clicked.'],
  ['broadcasts/preflight', 'A page shows the preflight as a checklist.'],
  ['broadcasts/recipients', 'Pages show what became of the contacts of a broadcast.'],
  ['certificates/acme', 'The certificates of a tenant are deleted with it.'],
  ['domains/installation', 'Forwarded mail is signed with the key of the installation.'],
  ['domains/receiving', 'Whoever receives mail asks which domains receive.'],
  ['emails/check', 'The dashboard shows what a check has found.'],
  ['emails/idempotency', 'Submission and confirmations accept an email once, as POST /v1/emails does.'],
  ['emails/request', 'Other ways to send check the fields of an email as POST /v1/emails does.'],
  ['imports/products', 'Imports of contacts and of suppressions know the same files of other products.'],
  ['inbound/tasks', 'Received mail is handed to the rooms that post, file or evaluate it.'],
  ['jobs/errors', 'An import adds the rows that it could not import.'],
  ['ledger/engagement', 'Opens and clicks are counted by those who see them.'],
  ['mail-reports/dmarc-reports', 'Reports are made of what port 25 has seen.'],
  ['mail-reports/reports', 'A report arrives at port 25.'],
  ['mailbox-delivery/forward', 'An address can forward, which port 25 asks for.'],
  ['mailbox-delivery/scripts', 'A script can refuse mail before port 25 has accepted it.'],
  ['mailboxes/addresses', 'An address is the name under which all others know a mailbox.'],
  ['mailboxes/api-keys', 'The owner of a mailbox makes its API keys in the dashboard.'],
  ['mailboxes/app-passwords', 'Submission checks the app passwords of mailboxes.'],
  ['mailboxes/passwords', 'People log in to the dashboard with passwords as owners of mailboxes do.'],
  ['mailboxes/recovery', 'The dashboard mails the links with which owners of mailboxes set new passwords.'],
  ['mailboxes/scripts', 'Sessions edit the scripts of mailboxes, and deliveries run them.'],
  ['queue/contents', 'Whoever sends stores a content first, and can read it later.'],
  ['queue/control', 'The dashboard shows the queue, and what the operator asks of it.'],
  ['queue/delivery-test', 'The dashboard shows the steps of a test.'],
  ['queue/held', 'The status of the installation says how much mail is held.'],
  ['queue/outcome/replies', 'Bounces that arrive by mail are evaluated as replies are.'],
  ['queue/state', 'Only the queue changes the state of a recipient, for all who ask for it.'],
  ['queue/shaping', 'The checks look at what rules impose on large receivers, and the operator at sites.'],
  ['queue/sources', 'The checks look at the addresses that mail leaves from.'],
  ['queue/suppression-review', 'The dashboard shows the suppressions that need a review.'],
  ['queue/submitted', 'Submission and mailboxes show and cancel what a person has sent.'],
  ['routes/post', 'The API of Resend names the links to received files that posts have.'],
  ['routes/messages', 'Port 25 stores a received message, and the operator shows it.'],
  ['routes/post', 'Texts and files of a message in a mailbox are shown as those of a received one.'],
  ['submission/limits', 'Mail that a script sends counts against the limits of its mailbox.'],
  ['tenants/stored-mail', 'All rooms that store mail share the quota of a tenant.'],
  ['tracking/engagements', 'An email shows its opens and clicks.'],
  ['tracking/links', 'Whoever writes HTML replaces its links.'],
  ['webhooks/log', 'The dashboard shows the log of posts in the shapes of the API.'],
  ['webhooks/posting', 'A route is posted as an event is.'],
]);

/** Finds files that other rooms import although their folder is private to its room, and folders that nobody else imports from any more. */
export function importsPastDoors(
  sources: readonly Source[],
  openFolders: ReadonlySet<string> = new Set(OPEN_FOLDERS.keys()),
): string[] {
  const entered = new Set<string>();
  const past = sources.flatMap(({ path, imports }) =>
    imports
      .filter((target) => {
        const [room = '', ...inner] = target.split('/');
        const isPrivate = inner.length > 1 && room !== 'cli' && !FOUNDATIONS.includes(room);
        if (!isPrivate || ROOT.test(path) || path.startsWith(`${room}/`)) return false;
        const folder = target.slice(0, target.lastIndexOf('/'));
        entered.add(folder);
        return !openFolders.has(folder);
      })
      .map((target) => `${path} -> ${target}`),
  );
  const stale = [...openFolders].filter((folder) => !entered.has(folder));
  return [...past, ...stale.map((folder) => `${folder} is entered by no other room`)];
}
