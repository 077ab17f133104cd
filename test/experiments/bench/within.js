/** A result that has a limit of its own. */
export function within(what, unit, ours, limit) {
  return {what, unit, ours, against: `${limit} ${unit}`, ratio: ours.map(value => value / limit), atMost: 1};
}
