from homeassistant.components.todo import (
    TodoItem,
    TodoItemStatus,
    TodoListEntity,
    TodoListEntityFeature,
)

from .base import HouseEntity, features, setup


class Todo(HouseEntity, TodoListEntity):
    _attr_supported_features = features(
        TodoListEntityFeature, "CREATE_TODO_ITEM", "UPDATE_TODO_ITEM", "DELETE_TODO_ITEM"
    )

    def begin(self, row):
        self.made = 0
        self._attr_todo_items = [self.item(text) for text in row["items"]]

    def item(self, summary):
        self.made += 1
        return TodoItem(summary=summary, uid=str(self.made), status=TodoItemStatus.NEEDS_ACTION)

    async def async_create_todo_item(self, item):
        self.put(todo_items=[*self._attr_todo_items, self.item(item.summary)])

    async def async_update_todo_item(self, item):
        self.put(todo_items=[item if old.uid == item.uid else old for old in self._attr_todo_items])

    async def async_delete_todo_items(self, uids):
        self.put(todo_items=[old for old in self._attr_todo_items if old.uid not in uids])


async_setup_entry = setup("todo", Todo)
