/** Imports what defines the operations of routes, which run in the threads of the database. */
import './messages/list.ts';
import './messages/replay.ts';
import './post/settle.ts';
import './store.ts';
