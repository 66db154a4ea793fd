/** Imports what defines the operations of approvals, which run in the threads of the database. */
import './store.ts';
