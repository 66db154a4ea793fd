/** Imports what defines the operations of tenants, which run in the threads of the database. */
import './store.ts';
