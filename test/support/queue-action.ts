/** Does in a test what an operator asks of the queue. */
import type { App } from '../../src/app.ts';
import type { QueueActionRow, QueueVerb } from '../../src/db/queue-tables.ts';
import { createAction, sweepAction } from '../../src/queue/control/act.ts';
import { EVERYTHING, type Selection } from '../../src/queue/control/selection.ts';
import { findAction } from '../../src/queue/control/store.ts';

type Asked = Partial<Selection> & Partial<Pick<QueueActionRow, 'reason' | 'target'>>;
type ActingApp = Pick<App, 'db' | 'clock'>;

/** Creates an action whose mail is not swept yet. */
export function askFor(
  { db, clock }: ActingApp,
  verb: QueueVerb,
  { reason = null, target = null, ...criteria }: Asked = {},
): Promise<QueueActionRow> {
  const selection = { ...EVERYTHING, ...criteria };
  return db.commit(createAction, { verb, reason, target, matched: 0, selection, now: clock.now() });
}

/** Makes one slice of an action and returns the action after it. */
export async function sweepSlice(
  { db, clock }: ActingApp,
  { id }: QueueActionRow,
  rows = 100,
): Promise<QueueActionRow> {
  await db.commit(sweepAction, { id, now: clock.now(), rows, pauseMs: 0 });
  const action = await findAction(db.read, id);
  if (!action) throw new Error(`action ${id} does not exist`);
  return action;
}

/** Creates an action and lets it go through all mail. */
export async function act(app: ActingApp, verb: QueueVerb, asked: Asked = {}): Promise<QueueActionRow> {
  let action = await askFor(app, verb, asked);
  while (action.finishedAt === null) action = await sweepSlice(app, action);
  return action;
}
