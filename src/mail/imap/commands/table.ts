/** The commands by their names. Those that take UIDs begin with UID. test/accounts/imap/isolation.test.ts asks each about another account. */
import { append } from './append.ts';
import { capability } from './capability.ts';
import type { Command } from './command.ts';
import { compress } from './compress.ts';
import { copy, move, uidCopy, uidMove } from './copy.ts';
import { enable } from './enable.ts';
import { close, expunge, uidExpunge, unselect } from './expunge.ts';
import { fetch, uidFetch } from './fetch.ts';
import { id } from './id.ts';
import { idle } from './idle.ts';
import { list, lsub } from './list.ts';
import { authenticate, login } from './login.ts';
import { create, deleteMailbox, namespace, rename, status, subscribe, unsubscribe } from './mailboxes.ts';
import { getMetadata, setMetadata } from './metadata.ts';
import { notify } from './notify.ts';
import { getQuota, getQuotaRoot, setQuota } from './quota.ts';
import { replace, uidReplace } from './replace.ts';
import { cancelUpdate, search, sort, thread, uidSearch, uidSort, uidThread } from './search.ts';
import { examine, select } from './select.ts';
import { check, logout, noop, starttls } from './session.ts';
import { store, uidStore } from './store.ts';

const ALL: readonly Command[] = [
  capability,
  noop,
  logout,
  id,
  starttls,
  authenticate,
  login,
  enable,
  compress,
  select,
  examine,
  create,
  deleteMailbox,
  rename,
  subscribe,
  unsubscribe,
  list,
  lsub,
  namespace,
  status,
  getQuota,
  getQuotaRoot,
  setQuota,
  getMetadata,
  setMetadata,
  append,
  idle,
  notify,
  check,
  close,
  unselect,
  expunge,
  uidExpunge,
  search,
  uidSearch,
  sort,
  uidSort,
  thread,
  uidThread,
  cancelUpdate,
  fetch,
  uidFetch,
  store,
  uidStore,
  copy,
  uidCopy,
  move,
  uidMove,
  replace,
  uidReplace,
];

export const COMMANDS: ReadonlyMap<string, Command> = new Map(ALL.map((command) => [command.name, command]));
