"""Who gets mail: audiences, contacts, segments, topics and suppressions, with their imports and exports."""

from .requests import Upload
from .resource import Resource


class Audiences(Resource):
    _path = "audiences"

    def create(self, *, options=None, **fields):
        """Create an audience."""
        return self._post(options, body=fields)

    def delete(self, id, /, *, options=None):
        """Delete an audience."""
        return self._delete(options, id)

    def get(self, id, /, *, options=None):
        """Retrieve an audience."""
        return self._get(options, id)

    def list(self, *, options=None, **query):
        """List audiences."""
        return self._page(options, query)

    def update(self, id, /, *, options=None, **fields):
        """Update an audience."""
        return self._patch(options, id, body=fields)


class Contacts(Resource):
    _path = "audiences"

    def create(self, audience_id, /, *, upsert=None, options=None, **fields):
        """Create a contact."""
        return self._post(options, audience_id, "contacts", query={"upsert": upsert}, body=fields)

    def delete(self, audience_id, id, /, *, options=None):
        """Delete a contact."""
        return self._delete(options, audience_id, "contacts", id)

    def export_csv(self, audience_id, /, *, options=None, **fields):
        """Export contacts to a CSV file."""
        return self._post(options, audience_id, "contacts", "exports", body=fields or None)

    def get(self, audience_id, id, /, *, options=None):
        """Retrieve a contact."""
        return self._get(options, audience_id, "contacts", id)

    def import_csv(self, audience_id, file, /, *, options=None, **query):
        """Import contacts from a CSV file."""
        return self._post(options, audience_id, "contacts", "imports", query=query, body=Upload(file))

    def list(self, audience_id, /, *, options=None, **query):
        """List contacts."""
        return self._page(options, query, audience_id, "contacts")

    def preview_import(self, audience_id, id, /, *, options=None, **fields):
        """Preview an import that waits."""
        return self._post(options, audience_id, "contacts", "imports", id, "preview", body=fields or None)

    def start_import(self, audience_id, id, /, *, options=None, **fields):
        """Start an import that waits."""
        return self._post(options, audience_id, "contacts", "imports", id, "start", body=fields or None)

    def update(self, audience_id, id, /, *, options=None, **fields):
        """Update a contact."""
        return self._patch(options, audience_id, "contacts", id, body=fields)


class Exports(Resource):
    _path = "exports"

    def delete(self, id, /, *, options=None):
        """Delete an export."""
        return self._delete(options, id)

    def get(self, id, /, *, options=None):
        """Retrieve an export."""
        return self._get(options, id)

    def get_file(self, id, /, *, options=None):
        """Download the file of an export."""
        return self._stream(options, {}, id, "file")

    def list(self, *, options=None, **query):
        """List exports."""
        return self._page(options, query)


class Imports(Resource):
    _path = "imports"

    def delete(self, id, /, *, options=None):
        """Delete an import."""
        return self._delete(options, id)

    def get(self, id, /, *, options=None):
        """Retrieve an import."""
        return self._get(options, id)

    def get_errors(self, id, /, *, options=None):
        """Download the rows that were not imported."""
        return self._stream(options, {}, id, "errors")

    def list(self, *, options=None, **query):
        """List imports."""
        return self._page(options, query)


class Segments(Resource):
    _path = "segments"

    def count(self, *, options=None, **fields):
        """Count the contacts that a filter finds."""
        return self._post(options, "count", body=fields)

    def create(self, *, options=None, **fields):
        """Create a segment."""
        return self._post(options, body=fields)

    def delete(self, id, /, *, options=None):
        """Delete a segment."""
        return self._delete(options, id)

    def get(self, id, /, *, options=None, **query):
        """Retrieve a segment."""
        return self._get(options, id, query=query)

    def list(self, *, options=None, **query):
        """List segments."""
        return self._page(options, query)

    def list_contacts(self, id, /, *, options=None, **query):
        """List the contacts of a segment."""
        return self._page(options, query, id, "contacts")

    def update(self, id, /, *, options=None, **fields):
        """Update a segment."""
        return self._patch(options, id, body=fields)


class Suppressions(Resource):
    _path = "suppressions"

    def create(self, *, options=None, **fields):
        """Suppress an address."""
        return self._post(options, body=fields)

    def create_batch(self, *, options=None, **fields):
        """Suppress up to 100 addresses."""
        return self._post(options, "batch", body=fields)

    def delete(self, id, /, *, options=None):
        """Delete a suppression."""
        return self._delete(options, id)

    def delete_batch(self, *, options=None, **fields):
        """Remove up to 100 addresses from the list."""
        return self._post(options, "batch", "delete", body=fields)

    def export_csv(self, *, options=None, **fields):
        """Export suppressions to a CSV file."""
        return self._post(options, "exports", body=fields or None)

    def get(self, id, /, *, options=None):
        """Retrieve a suppression."""
        return self._get(options, id)

    def import_csv(self, file, /, *, options=None, **query):
        """Import suppressions from a CSV file."""
        return self._post(options, "imports", query=query, body=Upload(file))

    def list(self, *, options=None, **query):
        """List suppressions."""
        return self._page(options, query)


class Topics(Resource):
    _path = "topics"

    def create(self, *, options=None, **fields):
        """Create a topic."""
        return self._post(options, body=fields)

    def delete(self, id, /, *, options=None):
        """Delete a topic."""
        return self._delete(options, id)

    def get(self, id, /, *, options=None):
        """Retrieve a topic."""
        return self._get(options, id)

    def list(self, *, options=None, **query):
        """List topics."""
        return self._page(options, query)

    def update(self, id, /, *, options=None, **fields):
        """Update a topic."""
        return self._patch(options, id, body=fields)
