/** Imports what defines the operations of audiences, which run in the threads of the database. */
import './contacts/change.ts';
import './contacts/decide.ts';
import './csv/export.ts';
import './csv/import.ts';
import './delete.ts';
import './contacts/confirm.ts';
import './opt-in/store.ts';
import './reach/store.ts';
import './segments/store.ts';
import './store.ts';
