/** Imports what defines the operations of mailboxes, which run in the threads of the database. */
import './app-passwords/store.ts';
import './recovery/store.ts';
import './scripts/memory-store.ts';
import './scripts/store.ts';
import './store.ts';
