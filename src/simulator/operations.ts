/** Imports what defines the operations of the simulator, which run in the threads of the database. */
import './store.ts';
