/** Imports what defines the operations of domains, which run in the threads of the database. */
import './installation/store.ts';
import './operator-store.ts';
import './rotation/writes.ts';
import './spool-store.ts';
import './store.ts';
import './writes.ts';
