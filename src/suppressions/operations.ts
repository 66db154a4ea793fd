/** Imports what defines the operations of suppressions, which run in the threads of the database. */
import './change.ts';
import './evidence-store.ts';
import './export.ts';
import './import.ts';
import './store.ts';
