/** Imports what defines the operations of inbound, which run in the threads of the database. */
import './store.ts';
import './tasks/lease.ts';
import './tasks/settle.ts';
import './tasks/read-store.ts';
import './tasks/store.ts';
