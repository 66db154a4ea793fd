/**
 * `npm run bench [-- --only GROUP] [-- --rounds N] [-- --json] [-- --seconds N] [-- --contacts N] [-- --messages N]`: what this
 * machine can do, what the least program would do, what Postrider does, and what its peer does, in one table. `--only inbound`
 * runs the group of that name and all groups whose names begin with `inbound-`. Each row is the median of three runs, which
 * alternate, because a shared machine changes its mood by the minute: compare within one table only. What a row is to reach
 * stands beside it; nothing fails that does not.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { attachments } from './attachments.ts';
import { backup } from './backup.ts';
import { bare } from './bare.ts';
import { batch } from './batch.ts';
import { ceilings } from './ceilings.ts';
import { csv } from './csv.ts';
import { dashboard } from './dashboard.ts';
import { disk } from './disk.ts';
import { https } from './https.ts';
import { imapIdle } from './imap/idle.ts';
import { imapLoad } from './imap/load.ts';
import { imapNeighbours } from './imap/neighbours.ts';
import { imapPush } from './imap/push.ts';
import { imap } from './imap.ts';
import { inbound } from './inbound.ts';
import { mailImport } from './mail-import.ts';
import { marketing } from './marketing.ts';
import { memory } from './memory.ts';
import { messageCost } from './message-cost.ts';
import { metrics } from './metrics.ts';
import { million } from './million.ts';
import { nameServer } from './name-server.ts';
import { passwordLogins } from './password-logins.ts';
import { pop3 } from './pop3.ts';
import { postfix } from './postfix.ts';
import { postrider } from './postrider.ts';
import { posts } from './posts.ts';
import { queueControl } from './queue-control.ts';
import { reading } from './reading.ts';
import { replies } from './replies.ts';
import { retention } from './retention.ts';
import type { Group, Row } from './row.ts';
import { scheduled } from './scheduled.ts';
import { sdks } from './sdks.ts';
import { setup } from './setup.ts';
import { sieve } from './sieve.ts';
import { sinkName } from './sink.ts';
import { sites } from './sites.ts';
import { standby } from './standby.ts';
import { starttls } from './starttls.ts';
import { submission } from './submission.ts';
import { disturbed, type RowRuns, renderTable, summarise } from './table.ts';
import { tasks } from './tasks.ts';
import { machineFacts, openWorkspace, type Workspace } from './workspace.ts';

/** Length of the steady load of the row `memory`, unless `--seconds` says otherwise. */
const MEMORY_SECONDS = 600;
/** Size of the audience of the row `marketing`, unless `--contacts` says otherwise. */
const MARKETING_CONTACTS = 1_000_000;

/** Number of messages in a mailbox of the rows `imap` and `pop3`, unless `--messages` says otherwise. */
const IMAP_MESSAGES = 10_000;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string' },
    json: { type: 'boolean' },
    seconds: { type: 'string' },
    contacts: { type: 'string' },
    messages: { type: 'string' },
  },
});
const GROUPS: readonly Group[] = [
  ceilings,
  bare,
  postrider,
  https,
  batch,
  messageCost,
  postfix,
  starttls,
  sites,
  scheduled,
  attachments,
  million,
  ...dashboard,
  metrics,
  queueControl,
  retention,
  backup,
  standby,
  replies,
  csv,
  disk,
  ...inbound,
  ...posts,
  tasks,
  sieve,
  reading,
  submission,
  passwordLogins,
  nameServer,
  setup,
  sdks,
  imap(Number(values.messages ?? IMAP_MESSAGES)),
  mailImport(Number(values.messages ?? IMAP_MESSAGES)),
  imapPush,
  imapNeighbours,
  imapIdle,
  imapLoad(Number(values.messages ?? IMAP_MESSAGES)),
  pop3(Number(values.messages ?? IMAP_MESSAGES)),
  memory(Number(values.seconds ?? MEMORY_SECONDS)),
  marketing(Number(values.contacts ?? MARKETING_CONTACTS)),
];
const ROUNDS = Number(values.rounds ?? 3);
/** More than this taken by other programs, and a table is of little use. */
const CALM_CORES = 1;

// The pool reads this at its first use; the ceiling of signatures wants every core.
process.env['UV_THREADPOOL_SIZE'] = String(availableParallelism() + 2);

const { only } = values;
const groups = GROUPS.filter(
  ({ name }) => only === undefined || name === only || name.startsWith(`${only}-`),
);
if (groups.length === 0) {
  console.error(`no group "${only}"; there are ${GROUPS.map((group) => group.name).join(', ')}`);
  process.exit(1);
}
const workspace = openWorkspace();
const prepared = await prepare(workspace, groups);
const facts = machineFacts(workspace.root);
for (let round = 1; round <= ROUNDS; round++) await runRound(round, prepared);
const results = summarise(prepared);
if (values.json) console.log(JSON.stringify({ facts, results }, undefined, 2));
else console.log(`\n${[...facts, ...notes()].join('\n')}\n\n${renderTable(results)}`);
process.exit(prepared.some((entry) => 'row' in entry && entry.failures.length > 0) ? 1 : 0);

type Prepared = (RowRuns | { name: string; missing: string })[];

async function prepare(workspace: Workspace, groups: readonly Group[]): Promise<Prepared> {
  const entries: Prepared = [];
  for (const group of groups) {
    const found = await group.prepare(workspace);
    if ('unavailable' in found)
      entries.push({ name: group.name, missing: `not measured: ${found.unavailable}` });
    else entries.push(...found.rows.map((row) => ({ row, measures: [], failures: [] })));
  }
  return entries;
}

/** Progress goes to standard error, so that the table can be redirected alone. */
async function runRound(round: number, prepared: Prepared): Promise<void> {
  for (const entry of prepared) {
    if ('missing' in entry || round > (entry.row.rounds ?? ROUNDS)) continue;
    try {
      const measure = await entry.row.measure();
      entry.measures.push(measure);
      progress(round, entry.row, `${Math.round(measure.figure)} ${entry.row.unit}`);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      entry.failures.push(message);
      progress(round, entry.row, `failed: ${message}`);
    }
  }
}

function progress(round: number, row: Row, text: string): void {
  console.error(`[${round}/${ROUNDS}] ${row.name}: ${text}`);
}

function notes(): string[] {
  const { disturbed: count, all } = disturbed(prepared, CALM_CORES);
  return [
    `Sending ends when ${sinkName()} has counted the last message. p50/p99: one flush, or one HTTP request until its`,
    'answer, or how late a scheduled email was. CPU ms/msg and memory (proportional and resident set): all processes of',
    'the system. Loop: how late its event loop was, p99 of the middle second and the longest. Cores: mean busy, of the',
    "system, of load, sink and this program, of everything else. x: median of the rounds' ratios to the row that does the",
    'same job. Indented: what the run of the row above has shown besides, with a median of its own.',
    ...(count > 0
      ? [`Other programs used more than ${CALM_CORES} core in ${count} of ${all} measures.`]
      : []),
  ];
}
