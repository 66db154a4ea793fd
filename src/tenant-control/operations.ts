/** Imports what defines the operations of tenant-control, which run in the threads of the database. */
import './delete.ts';
import './holdings-store.ts';
import './suspend.ts';
