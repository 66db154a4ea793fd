/**
 * Stores the Sieve scripts of mailboxes. All SQL of this table is here, and nothing else writes it. Whether a script is correct is
 * decided before it is stored.
 */

import { sql } from 'kysely';
import type { MailboxRow, MailboxScriptRow } from '../../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { deleteRows, findColumns, findRow, updateRows } from '../../db/rows.ts';
import { type Param, statement } from '../../db/statement.ts';

/** Maximum number of scripts of a mailbox. */
export const MAX_SCRIPTS = 32;
/** Maximum size of a script in UTF-8. Scripts that programs generate from hundreds of rules have about 50 KB. */
export const MAX_SCRIPT_BYTES = 128 * 1024;
/** Maximum size of all scripts of a mailbox. */
export const MAX_TOTAL_BYTES = 1024 * 1024;

type MailboxId = MailboxRow['id'];
type ScriptKey = Pick<MailboxScriptRow, 'mailboxId' | 'name'>;
type ListedScript = Pick<MailboxScriptRow, 'name' | 'sizeBytes' | 'isActive'>;

/** Reasons for which a change of scripts is refused. `mailbox`: the mailbox was deleted. */
export type ScriptRefusal = 'missing' | 'exists' | 'active' | 'too many' | 'too large' | 'mailbox';
/** Outcome of a change: undefined when it was made. */
type Outcome = Promise<{ refused: ScriptRefusal } | undefined>;

const scriptsOf = statement((db, param: Param<{ mailboxId: MailboxId }>) =>
  db
    .selectFrom('mailboxScripts')
    .select(['name', 'sizeBytes', 'isActive'])
    .where('mailboxId', '=', param('mailboxId'))
    .orderBy('name'),
);

/** Returns the scripts of a mailbox by name. */
export function listScripts(tx: Tx, mailboxId: MailboxId): Promise<ListedScript[]> {
  return scriptsOf.all(tx, { mailboxId });
}

/** Returns the script of a mailbox with this name; undefined when there is none. */
export function findScript(tx: Tx, key: ScriptKey): Promise<MailboxScriptRow | undefined> {
  return findRow(tx, 'mailboxScripts', { mailboxId: key.mailboxId, name: key.name });
}

const activeScript = statement((db, param: Param<{ mailboxId: MailboxId }>) =>
  db
    .selectFrom('mailboxScripts')
    .selectAll()
    .where('mailboxId', '=', param('mailboxId'))
    // Literal, for the partial index `mailboxScriptsActive`.
    .where('isActive', '=', sql.lit(1)),
);

/** Returns the script that runs when mail is delivered to a mailbox; undefined when none does. */
export function findActiveScript(tx: Tx, mailboxId: MailboxId): Promise<MailboxScriptRow | undefined> {
  return activeScript.first(tx, { mailboxId });
}

/** Returns the limit that a script of this name and size would exceed; undefined when it can be stored. */
export async function excessOfScript(
  tx: Tx,
  { mailboxId, name, sizeBytes }: ScriptKey & { sizeBytes: number },
): Promise<'too many' | 'too large' | undefined> {
  if (sizeBytes > MAX_SCRIPT_BYTES) return 'too large';
  const others = (await listScripts(tx, mailboxId)).filter((script) => script.name !== name);
  if (others.length >= MAX_SCRIPTS) return 'too many';
  const totalBytes = others.reduce((sum, script) => sum + script.sizeBytes, sizeBytes);
  return totalBytes > MAX_TOTAL_BYTES ? 'too large' : undefined;
}

type NewScript = ScriptKey & { content: string; now: number };

/** Stores a script, in place of one with the same name, which stays active when it is. `now` is in Unix milliseconds. */
export const putScript = defineWrite(
  'mailboxes.putScript',
  async (tx, { mailboxId, name, content, now: updatedAt }: NewScript): Outcome => {
    if (!(await hasMailbox(tx, mailboxId))) return { refused: 'mailbox' };
    const sizeBytes = Buffer.byteLength(content);
    const excess = await excessOfScript(tx, { mailboxId, name, sizeBytes });
    if (excess) return { refused: excess };
    await tx
      .insertInto('mailboxScripts')
      .values({ mailboxId, name, content, sizeBytes, isActive: 0, updatedAt })
      .onConflict((conflict) =>
        conflict.columns(['mailboxId', 'name']).doUpdateSet({ content, sizeBytes, updatedAt }),
      )
      .execute();
    return undefined;
  },
);

/** A mailbox may be deleted while its owner is connected. */
async function hasMailbox(tx: Tx, id: MailboxId): Promise<boolean> {
  return (await findColumns(tx, 'mailboxes', { select: ['id'], where: { id } })) !== undefined;
}

/** Makes a script the active one, or none when the name is empty (RFC 5804 section 2.8). */
export const activateScript = defineWrite('mailboxes.activateScript', async (tx, key: ScriptKey): Outcome => {
  const { mailboxId, name } = key;
  if (name !== '' && !(await findScript(tx, key))) return { refused: 'missing' };
  await updateRows(tx, 'mailboxScripts', { set: { isActive: 0 }, where: { mailboxId, isActive: 1 } });
  if (name !== '') await changeScript(tx, key, { isActive: 1 });
  return undefined;
});

/** Deletes a script that is not active (RFC 5804 section 2.10). */
export const deleteScript = defineWrite('mailboxes.deleteScript', async (tx, key: ScriptKey): Outcome => {
  const script = await findScript(tx, key);
  if (!script) return { refused: 'missing' };
  if (script.isActive === 1) return { refused: 'active' };
  await deleteRows(tx, 'mailboxScripts', { mailboxId: key.mailboxId, name: key.name });
  return undefined;
});

/** Gives a script another name (RFC 5804 section 2.11). */
export const renameScript = defineWrite(
  'mailboxes.renameScript',
  async (tx, { to, ...key }: ScriptKey & { to: string }): Outcome => {
    if (!(await findScript(tx, key))) return { refused: 'missing' };
    if (await findScript(tx, { ...key, name: to })) return { refused: 'exists' };
    await changeScript(tx, key, { name: to });
    return undefined;
  },
);

async function changeScript(
  tx: Tx,
  { mailboxId, name }: ScriptKey,
  change: Partial<Pick<MailboxScriptRow, 'name' | 'isActive'>>,
): Promise<void> {
  await updateRows(tx, 'mailboxScripts', { set: change, where: { mailboxId, name } });
}

/** Deletes all scripts of a mailbox, as part of the write that deletes the mailbox. */
export async function deleteScriptsOf(tx: Tx, mailboxId: MailboxId): Promise<void> {
  await deleteRows(tx, 'mailboxScripts', { mailboxId });
}
