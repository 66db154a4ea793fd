"""Who gets mail: audiences, contacts, segments, topics and suppressions, with their imports and exports."""

from typing import Any, Optional

from .objects import Object
from .pages import Page
from .requests import Upload
from .resource import Options, Resource
from .streams import Stream


class Audiences(Resource):
    def create(self, *, options: Options = None, **fields: Any) -> Object:
        """Create an audience."""
        return self._json(options, "POST", "audiences", body=fields)

    def delete(self, id: str, /, *, options: Options = None) -> None:
        """Delete an audience."""
        return self._delete(options, "audiences", id)

    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve an audience."""
        return self._json(options, "GET", "audiences", id)

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List audiences."""
        return self._page(options, query, "audiences")

    def update(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Update an audience."""
        return self._json(options, "PATCH", "audiences", id, body=fields)


class Contacts(Resource):
    def create(self, audience_id: str, /, *, upsert: Optional[bool] = None, options: Options = None, **fields: Any) -> Object:
        """Create a contact."""
        return self._json(options, "POST", "audiences", audience_id, "contacts", query={"upsert": upsert}, body=fields)

    def delete(self, audience_id: str, id: str, /, *, options: Options = None) -> None:
        """Delete a contact."""
        return self._delete(options, "audiences", audience_id, "contacts", id)

    def export_csv(self, audience_id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Export contacts to a CSV file."""
        return self._json(options, "POST", "audiences", audience_id, "contacts", "exports", body=fields or None)

    def get(self, audience_id: str, id: str, /, *, options: Options = None) -> Object:
        """Retrieve a contact."""
        return self._json(options, "GET", "audiences", audience_id, "contacts", id)

    def import_csv(self, audience_id: str, file: Any, /, *, options: Options = None, **query: Any) -> Object:
        """Import contacts from a CSV file."""
        return self._json(options, "POST", "audiences", audience_id, "contacts", "imports", query=query, body=Upload(file))

    def list(self, audience_id: str, /, *, options: Options = None, **query: Any) -> Page:
        """List contacts."""
        return self._page(options, query, "audiences", audience_id, "contacts")

    def preview_import(self, audience_id: str, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Preview an import that waits."""
        return self._json(options, "POST", "audiences", audience_id, "contacts", "imports", id, "preview", body=fields or None)

    def start_import(self, audience_id: str, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Start an import that waits."""
        return self._json(options, "POST", "audiences", audience_id, "contacts", "imports", id, "start", body=fields or None)

    def update(self, audience_id: str, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Update a contact."""
        return self._json(options, "PATCH", "audiences", audience_id, "contacts", id, body=fields)


class Exports(Resource):
    def delete(self, id: str, /, *, options: Options = None) -> None:
        """Delete an export."""
        return self._delete(options, "exports", id)

    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve an export."""
        return self._json(options, "GET", "exports", id)

    def get_file(self, id: str, /, *, options: Options = None) -> Stream:
        """Download the file of an export."""
        return self._stream(options, {}, "exports", id, "file")

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List exports."""
        return self._page(options, query, "exports")


class Imports(Resource):
    def delete(self, id: str, /, *, options: Options = None) -> None:
        """Delete an import."""
        return self._delete(options, "imports", id)

    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve an import."""
        return self._json(options, "GET", "imports", id)

    def get_errors(self, id: str, /, *, options: Options = None) -> Stream:
        """Download the rows that were not imported."""
        return self._stream(options, {}, "imports", id, "errors")

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List imports."""
        return self._page(options, query, "imports")


class Segments(Resource):
    def count(self, *, options: Options = None, **fields: Any) -> Object:
        """Count the contacts that a filter finds."""
        return self._json(options, "POST", "segments", "count", body=fields)

    def create(self, *, options: Options = None, **fields: Any) -> Object:
        """Create a segment."""
        return self._json(options, "POST", "segments", body=fields)

    def delete(self, id: str, /, *, options: Options = None) -> None:
        """Delete a segment."""
        return self._delete(options, "segments", id)

    def get(self, id: str, /, *, options: Options = None, **query: Any) -> Object:
        """Retrieve a segment."""
        return self._json(options, "GET", "segments", id, query=query)

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List segments."""
        return self._page(options, query, "segments")

    def list_contacts(self, id: str, /, *, options: Options = None, **query: Any) -> Page:
        """List the contacts of a segment."""
        return self._page(options, query, "segments", id, "contacts")

    def update(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Update a segment."""
        return self._json(options, "PATCH", "segments", id, body=fields)


class Suppressions(Resource):
    def create(self, *, options: Options = None, **fields: Any) -> Object:
        """Suppress an address."""
        return self._json(options, "POST", "suppressions", body=fields)

    def create_batch(self, *, options: Options = None, **fields: Any) -> Object:
        """Suppress up to 100 addresses."""
        return self._json(options, "POST", "suppressions", "batch", body=fields)

    def delete(self, id: str, /, *, options: Options = None) -> None:
        """Delete a suppression."""
        return self._delete(options, "suppressions", id)

    def delete_batch(self, *, options: Options = None, **fields: Any) -> Object:
        """Remove up to 100 addresses from the list."""
        return self._json(options, "POST", "suppressions", "batch", "delete", body=fields)

    def export_csv(self, *, options: Options = None, **fields: Any) -> Object:
        """Export suppressions to a CSV file."""
        return self._json(options, "POST", "suppressions", "exports", body=fields or None)

    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve a suppression."""
        return self._json(options, "GET", "suppressions", id)

    def import_csv(self, file: Any, /, *, options: Options = None, **query: Any) -> Object:
        """Import suppressions from a CSV file."""
        return self._json(options, "POST", "suppressions", "imports", query=query, body=Upload(file))

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List suppressions."""
        return self._page(options, query, "suppressions")


class Topics(Resource):
    def create(self, *, options: Options = None, **fields: Any) -> Object:
        """Create a topic."""
        return self._json(options, "POST", "topics", body=fields)

    def delete(self, id: str, /, *, options: Options = None) -> None:
        """Delete a topic."""
        return self._delete(options, "topics", id)

    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve a topic."""
        return self._json(options, "GET", "topics", id)

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List topics."""
        return self._page(options, query, "topics")

    def update(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Update a topic."""
        return self._json(options, "PATCH", "topics", id, body=fields)
