/** The commands by their names. Those that take UIDs begin with UID. */
import { append } from './append.ts';
import { authenticate } from './authenticate.ts';
import { cancelUpdate } from './cancel-update.ts';
import { capability } from './capability.ts';
import { close, unselect } from './close.ts';
import type { Command } from './command.ts';
import { compress } from './compress.ts';
import { copy, uidCopy } from './copy.ts';
import { create } from './create.ts';
import { deleteMailbox } from './delete.ts';
import { enable } from './enable.ts';
import { expunge, uidExpunge } from './expunge.ts';
import { fetch, uidFetch } from './fetch.ts';
import { id } from './id.ts';
import { idle } from './idle.ts';
import { list, lsub } from './list.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { getMetadata, setMetadata } from './metadata.ts';
import { move, uidMove } from './move.ts';
import { namespace } from './namespace.ts';
import { check, noop } from './noop.ts';
import { notify } from './notify.ts';
import { getQuota, getQuotaRoot, setQuota } from './quota.ts';
import { rename } from './rename.ts';
import { replace, uidReplace } from './replace.ts';
import { search, sort, thread, uidSearch, uidSort, uidThread } from './search.ts';
import { examine, select } from './select.ts';
import { starttls } from './starttls.ts';
import { status } from './status.ts';
import { store, uidStore } from './store.ts';
import { subscribe } from './subscribe.ts';
import { unsubscribe } from './unsubscribe.ts';

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
