/**
 * Knows which host owns an installation. Each owner creates an object of the next epoch in the store, which only one host can do; a primary that finds
 * a later epoch than its own was replaced, and refuses to run. While it cannot reach the store it goes on, since nobody could tell it
 * otherwise.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import type { ObjectStore } from '../objects/object-store.ts';
import { readObject } from '../objects/read-object.ts';
import { errorCode } from '../system/errors.ts';
import { cleanForeignText } from '../system/foreign-text.ts';
import { makeDirectories } from '../system/make-directories.ts';
import { writeFlushed } from '../system/write-flushed.ts';
import { ownerObject, ownerPrefix } from './names.ts';
import { StandbyError } from './standby-error.ts';

const ownerSchema = Type.Object({
  epoch: Type.Integer({ minimum: 1 }),
  /** Random id of the data directory that owns the installation. */
  node: Type.String(),
  /** Name of its host, for people. */
  host: Type.String(),
  /** Time from which it owns the installation, in Unix milliseconds. */
  since: Type.Integer(),
});

export type Owner = { epoch: number; node: string; host: string; since: number };

/** Maximum size of the object of an owner, in bytes. */
const MAX_OWNER_BYTES = 4_096;
/** Maximum number of attempts to become the owner: others may do the same at this moment. */
const MAX_ATTEMPTS = 5;

/** Returns the folder of a data directory that has the state of shipping. It is no part of backups and standbys. */
export function standbyFolder(dataDir: string): string {
  return join(dataDir, 'standby');
}

/** Returns the owner that this data directory is; undefined when it never was one. */
export function readOwnOwner(dataDir: string): Owner | undefined {
  try {
    return parseOwner(readFileSync(ownerFile(dataDir), 'utf8'), ownerFile(dataDir));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the owner by the store; undefined when there is none yet. @throws StoreError */
export async function findOwner(store: ObjectStore, installation: string): Promise<Owner | undefined> {
  const prefix = ownerPrefix(installation);
  let newest: string | undefined;
  for (let after: string | undefined; ; ) {
    const names = await store.list(prefix, after);
    after = names.at(-1);
    if (after === undefined) break;
    newest = after;
  }
  const bytes = newest === undefined ? undefined : await readObject(store, newest, MAX_OWNER_BYTES);
  return bytes && parseOwner(bytes.toString('utf8'), newest ?? '');
}

/**
 * Makes this data directory the owner of the next epoch, and remembers that.
 * @throws StoreError; Error when others became the owner meanwhile, again and again
 */
export async function becomeOwner(
  store: ObjectStore,
  { dataDir, installation, now }: { dataDir: string; installation: string; now: number },
): Promise<Owner> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const epoch = ((await findOwner(store, installation))?.epoch ?? 0) + 1;
    const owner = await claimEpoch(store, { dataDir, installation, now, epoch });
    if (owner) return owner;
  }
  throw new Error('other hosts became the owner of this installation at the same time');
}

/**
 * Makes this data directory the owner of an epoch, and remembers that. Returns undefined when another host has taken it.
 * @throws StoreError
 */
export async function claimEpoch(
  store: ObjectStore,
  {
    dataDir,
    installation,
    now,
    epoch,
  }: { dataDir: string; installation: string; now: number; epoch: number },
): Promise<Owner | undefined> {
  const owner = { epoch, node: randomUUID(), host: hostname(), since: now };
  // It is remembered first: after a crash between the two this directory owns what it has created, and otherwise nothing.
  rememberOwner(dataDir, owner);
  const bytes = Buffer.from(`${JSON.stringify(owner)}\n`);
  return (await store.create(ownerObject(installation, epoch), bytes)) ? owner : undefined;
}

/** Forgets that a data directory was to be the owner. */
export function forgetOwner(dataDir: string): void {
  rmSync(ownerFile(dataDir), { force: true });
}

/** Returns true when an owner by the store has taken the place of this data directory. */
export function isReplaced(own: Owner, found: Owner | undefined): boolean {
  return found !== undefined && found.node !== own.node && found.epoch >= own.epoch;
}

function rememberOwner(dataDir: string, owner: Owner): void {
  makeDirectories(standbyFolder(dataDir), 0o700);
  writeFlushed(ownerFile(dataDir), `${JSON.stringify(owner)}\n`);
}

function ownerFile(dataDir: string): string {
  return join(standbyFolder(dataDir), 'owner.json');
}

/** `name` is that of the file or object. The host name comes from another machine, and is shown to people. */
function parseOwner(text: string, name: string): Owner {
  const value = parseJson(text);
  if (!Value.Check(ownerSchema, value))
    throw new StandbyError(`${name} does not say who owns the installation: it is damaged`);
  return { ...value, host: cleanForeignText(value.host) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
