import { displayName } from "../widget.json";
import type { Settings } from "./settings";

export function Widget({ greeting }: Settings) {
  return (
    <div className="widget" role="group" aria-label={displayName}>
      <strong>{greeting}</strong>
      <p>{displayName}</p>
    </div>
  );
}
