/**
 * Keeps what people have entered in forms that were not sent, because the session has ended or the browser has gone away. A draft is kept here, and
 * not in the browser, so that the next person at a shared computer finds nothing, and its author finds it in another browser too. It is sealed,
 * and only its author gets it.
 */
import type { App } from '../../app.ts';
import { type Form, formOf } from '../../http/pages/form-body.ts';
import { newId } from '../../system/ids.ts';
import { ACTION_FIELD, DRAFT_FIELD, OWN_FIELDS, SECRET_FIELD } from '../field-names.ts';
import { type DraftOwner, dropDraft, listDrafts, storeDraft } from './store.ts';

/** Maximum size of the fields of a draft. Mail that is larger is written elsewhere, and is sent from there. */
export const MAX_DRAFT_BYTES = 256 * 1024;
/** Maximum length of the address of a page that keeps drafts. */
const MAX_ADDRESS_CHARACTERS = 1_000;

/** A form as it was entered. */
export type Draft = { action: string; form: Form; keptAt: number };

export type Drafts = {
  /** Keeps the fields of a form. Returns false for a form that keeps no draft, and for one that is too large. */
  keep(owner: DraftOwner, address: string, form: Form): Promise<boolean>;
  /** Returns the drafts of an owner for the forms of a page. */
  find(owner: DraftOwner, address: string): Promise<Draft[]>;
  /** Forgets the draft of a form that keeps drafts. */
  drop(owner: DraftOwner, address: string, form: Form): Promise<void>;
};

type DraftsApp = Pick<App, 'clock' | 'db' | 'sealer'>;

/** Returns the drafts of an installation. */
export function createDrafts({ clock, db, sealer }: DraftsApp): Drafts {
  return {
    async keep({ personId, mailboxId }, address, form) {
      const [action] = form.values(ACTION_FIELD);
      const fields = JSON.stringify(fieldsOf(form));
      const isKept = isDrafted(form) && action !== undefined && address.length <= MAX_ADDRESS_CHARACTERS;
      if (!isKept || Buffer.byteLength(fields) > MAX_DRAFT_BYTES) return false;
      const now = clock.now();
      const id = newId('dft', now);
      const sealed = sealer.seal(fields, contextOf({ id, personId, mailboxId }));
      await db.commit(storeDraft, { id, personId, mailboxId, address, action, sealed, createdAt: now });
      return true;
    },
    async find(owner, address) {
      const rows = await listDrafts(db.read, { owner, address });
      return rows.map(({ action, sealed, createdAt: keptAt, ...row }) => ({
        action,
        keptAt,
        form: formOf(JSON.parse(sealer.open(sealed, contextOf(row))) as [string, string][], []),
      }));
    },
    async drop({ personId, mailboxId }, address, form) {
      const [action] = form.values(ACTION_FIELD);
      if (!isDrafted(form) || action === undefined) return;
      await db.commit(dropDraft, { owner: { personId, mailboxId }, address, action });
    },
  };
}

function contextOf({ id, personId, mailboxId }: DraftOwner & { id: string }): string[] {
  return ['drafts', id, personId ?? mailboxId ?? ''];
}

function isDrafted(form: Form): boolean {
  return form.values(DRAFT_FIELD).length > 0;
}

/** Returns what somebody has entered, without secrets. */
function fieldsOf(form: Form): [string, string][] {
  const names = form.names.filter((name) => !OWN_FIELDS.has(name) && !SECRET_FIELD.test(name));
  return names.flatMap((name) => form.values(name).map((value): [string, string] => [name, value]));
}
