/** The changes of the DKIM keys of a domain, each one write. */
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { DomainRow } from '../../db/tables.ts';
import { AppError } from '../../system/errors.ts';
import { completeTask, type Lease, retryTask, type TaskEnd } from '../../tasks/store.ts';
import {
  afterLook,
  hasPlaceForEd25519,
  type Key,
  type Look,
  type NewKey,
  nextLookAt,
  usesEd25519,
  withEd25519,
  withNextKey,
  withoutEd25519,
} from '../keys/states.ts';
import { scheduleLook } from '../keys/task.ts';
import { changeKeys, type Domain, findDomainKeys, getDomain, type KeyedDomain } from '../store.ts';

export type Owner = { id: string; tenantId: DomainRow['tenantId']; now: number };

/** @throws AppError not_found */
async function getDomainKeys(tx: Tx, { id, tenantId }: Owner): Promise<KeyedDomain> {
  const { id: domainId } = await getDomain(tx, tenantId, id);
  const domain = await findDomainKeys(tx, domainId);
  if (!domain) throw new Error(`domain ${domainId} has no key`);
  return domain;
}

async function setKeys(
  tx: Tx,
  domain: KeyedDomain,
  { keys, now }: { keys: readonly Key[]; now: number },
): Promise<void> {
  if (keys === domain.keys) return;
  await changeKeys(tx, domain, { keys, now });
  await scheduleLook(tx, domain, nextLookAt(keys, now));
}

/**
 * Stores the next keys of a domain, which sign once they are seen in DNS. Where the next key of an algorithm exists or has no place yet,
 * nothing changes.
 * @throws AppError not_found
 */
export const startRotation = defineWrite(
  'domains.startRotation',
  async (tx, { made, ...owner }: Owner & { made: readonly NewKey[] }): Promise<Domain> => {
    const domain = await getDomainKeys(tx, owner);
    const keys = made.reduce((all, key) => withNextKey(all, key, owner.now), domain.keys);
    await setKeys(tx, domain, { keys, now: owner.now });
    return getDomain(tx, owner.tenantId, owner.id);
  },
  {
    crashPoints: {
      beforeCommit: 'key-rotation-before-commit',
      afterCommit: 'key-rotation-after-commit',
    },
  },
);

/** The begin or the end of the signatures with Ed25519. The first key signs once it is seen in DNS. */
export type Ed25519Change = { kind: 'start'; made: NewKey; spareSelector: string } | { kind: 'end' };

/**
 * Begins or ends the signatures with Ed25519, as part of a write. It changes nothing when they have begun or ended already.
 * @throws AppError not_found; invalid_state while earlier keys are still published
 */
export async function changeEd25519(tx: Tx, owner: Owner, change: Ed25519Change): Promise<void> {
  const domain = await getDomainKeys(tx, owner);
  if (usesEd25519(domain.keys) === (change.kind === 'start')) return;
  const keys =
    change.kind === 'start'
      ? withFirstEd25519(domain.keys, change, owner.now)
      : withoutEd25519(domain.keys, owner.now);
  await setKeys(tx, domain, { keys, now: owner.now });
}

function withFirstEd25519(
  keys: readonly Key[],
  { made, spareSelector }: Extract<Ed25519Change, { kind: 'start' }>,
  now: number,
): readonly Key[] {
  if (hasPlaceForEd25519(keys)) return withEd25519(keys, { made, spareSelector, now });
  throw new AppError(
    'invalid_state',
    'Earlier Ed25519 keys of the domain are still published for mail that was signed with them; try again once they are gone',
    { param: 'ed25519' },
  );
}

type Settlement = { lease: Lease; domainId: DomainRow['id']; look: Look; now: number };

/** Stores what a look has found, and plans the next one. */
export const settleLook = defineWrite(
  'domains.settleLook',
  async (tx, { lease, domainId, look, now }: Settlement): Promise<TaskEnd> => {
    const domain = await findDomainKeys(tx, domainId);
    if (!domain) return completeTask.run(tx, lease);
    const keys = afterLook(domain.keys, look, { now, isDeleted: domain.deletedAt !== null });
    const dueAt = nextLookAt(keys, now);
    const end =
      dueAt === null
        ? await completeTask.run(tx, lease)
        : await retryTask.run(tx, { lease, dueAt, attempts: 0 });
    if (end !== 'stale') await changeKeys(tx, domain, { keys, now });
    return end;
  },
  {
    crashPoints: {
      beforeCommit: 'key-look-before-commit',
      afterCommit: 'key-look-after-commit',
    },
  },
);
