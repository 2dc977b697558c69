import type { TimelineModel } from './model';

/** What keys can ask for beside moving the viewport. */
export interface KeyActions {
  readonly moving: () => void;
  readonly fit: () => void;
  readonly step: (direction: 1 | -1, by: 'row' | 'name') => void;
  readonly lane: (direction: 1 | -1) => boolean;
  readonly open: () => void;
  readonly search: () => void;
  readonly nextHit: (direction: 1 | -1) => void;
  readonly measure: () => void;
  readonly total: () => void;
  readonly sheet: () => void;
  readonly pin: () => void;
  readonly hide: () => void;
  readonly unhide: () => void;
  readonly fold: () => void;
  readonly gaps: () => void;
  readonly table: () => void;
  readonly escape: () => void;
}

const ZOOM = 0.75;
const PAN = 0.15;

/** True when the key was for the timeline. Keys typed into fields are never for it. */
export function handleKey(event: KeyboardEvent, model: TimelineModel, actions: KeyActions, onCanvas: boolean): boolean {
  if (event.target instanceof Element && event.target.closest('input, select, textarea, dialog, vscode-dropdown') !== null) {
    return false;
  }
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f' && !event.altKey) {
    actions.search();
    return true;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) {
    return false;
  }
  const { from, to } = model.viewport;
  const width = to - from;
  const act = (run: () => void): true => {
    run();
    return true;
  };
  const move = (run: () => void): true => {
    actions.moving();
    return act(run);
  };
  switch (event.key.length === 1 ? event.key.toLowerCase() : event.key) {
    case 'w':
    case '+':
    case '=':
      return move(() => model.zoomAt((from + to) / 2, ZOOM));
    case 's':
    case '-':
      return move(() => model.zoomAt((from + to) / 2, 1 / ZOOM));
    case 'a':
      return move(() => model.pan(-width * PAN));
    case 'd':
      return move(() => model.pan(width * PAN));
    case 'f':
      return act(actions.fit);
    case '0':
    case 'Home':
      return act(() => model.show(model.extent));
    case 'Backspace':
      return act(() => void model.undoZoom());
    case 'm':
      return act(actions.measure);
    case 'r':
      return act(actions.total);
    case '[':
      return act(() => actions.step(-1, 'name'));
    case ']':
      return act(() => actions.step(1, 'name'));
    case '/':
      return act(actions.search);
    case 'n':
      return act(() => actions.nextHit(event.shiftKey ? -1 : 1));
    case '?':
      return act(actions.sheet);
    case 'p':
      return act(actions.pin);
    case 'h':
      return act(event.shiftKey ? actions.unhide : actions.hide);
    case 'g':
      return act(actions.gaps);
    case 't':
      return act(actions.table);
    case 'Escape':
      return act(actions.escape);
    default:
      return onCanvas && handleCanvasKey(event, model, actions, width, move);
  }
}

/** Arrows, Tab, Space and Enter mean something else on buttons: they are the timeline's only while the canvas has the focus. */
function handleCanvasKey(event: KeyboardEvent, model: TimelineModel, actions: KeyActions, width: number, move: (run: () => void) => true): boolean {
  switch (event.key) {
    case 'ArrowLeft':
    case 'ArrowRight': {
      const direction = event.key === 'ArrowRight' ? 1 : -1;
      return move(() => (model.selection === undefined || event.shiftKey ? model.pan(direction * width * PAN) : actions.step(direction, 'row')));
    }
    case 'ArrowUp':
      actions.lane(-1);
      return true;
    case 'ArrowDown':
      actions.lane(1);
      return true;
    case 'Tab':
      // After the last lane (before the first) the focus moves on as usual, so nobody is trapped here.
      return actions.lane(event.shiftKey ? -1 : 1);
    case ' ':
      actions.fold();
      return true;
    case 'Enter':
      actions.open();
      return true;
    case 'PageDown':
      model.scrollTop += 200;
      model.changed();
      return true;
    case 'PageUp':
      model.scrollTop -= 200;
      model.changed();
      return true;
    default:
      return false;
  }
}
