// What consent.js and settings.js say, in every language of the catalog's pages.
// Made by `./dev run python -m widget_catalog.core.languages.extract`.

/** The sentences about permissions. */
export const PERMISSIONS = {
  "camera": "Use the camera",
  "clipboard": "Use the clipboard",
  "clipboard-read": "Read the clipboard",
  "clipboard-write": "Write to the clipboard",
  "fullscreen": "Use full screen",
  "geolocation": "Access your location",
  "microphone": "Use the microphone",
  "network": "Connect to the network",
  "notifications": "Show notifications",
  "settings": "Read the dashboard's settings",
  "storage": "Store data in the browser",
  "user": "Access your identity"
};

const TEXTS = {
  "de": {
    "Use the camera": "Die Kamera verwenden",
    "Use the clipboard": "Die Zwischenablage verwenden",
    "Read the clipboard": "Die Zwischenablage lesen",
    "Write to the clipboard": "In die Zwischenablage schreiben",
    "Use full screen": "Den Vollbildmodus verwenden",
    "Access your location": "Auf Ihren Standort zugreifen",
    "Use the microphone": "Das Mikrofon verwenden",
    "Connect to the network": "Auf das Netzwerk zugreifen",
    "Show notifications": "Benachrichtigungen anzeigen",
    "Read the dashboard's settings": "Die Einstellungen des Dashboards lesen",
    "Store data in the browser": "Daten im Browser speichern",
    "Access your identity": "Auf Ihre Identität zugreifen",
    "read %(domain)s": "%(domain)s lesen",
    "control %(domain)s": "%(domain)s steuern",
    "only %(services)s": "nur %(services)s",
    "Allow nothing": "Nichts erlauben",
    "Allow what is ticked": "Angekreuztes erlauben",
    "One on each line.": "Je Zeile ein Eintrag.",
    "Settings as JSON": "Einstellungen als JSON",
    "This widget wants to:": "Dieses Widget möchte:",
    "Write an object: { … }": "Geben Sie ein Objekt ein: { … }"
  },
  "ja": {
    "Use the camera": "カメラを使用する",
    "Use the clipboard": "クリップボードを使用する",
    "Read the clipboard": "クリップボードを読み取る",
    "Write to the clipboard": "クリップボードに書き込む",
    "Use full screen": "全画面表示を使用する",
    "Access your location": "位置情報にアクセスする",
    "Use the microphone": "マイクを使用する",
    "Connect to the network": "ネットワークに接続する",
    "Show notifications": "通知を表示する",
    "Read the dashboard's settings": "ダッシュボードの設定を読み取る",
    "Store data in the browser": "ブラウザーにデータを保存する",
    "Access your identity": "ユーザー情報にアクセスする",
    "read %(domain)s": "%(domain)s を読み取る",
    "control %(domain)s": "%(domain)s を操作する",
    "only %(services)s": "%(services)s のみ",
    "Allow nothing": "何も許可しない",
    "Allow what is ticked": "選択したものを許可",
    "One on each line.": "1 行に 1 つずつ入力してください。",
    "Settings as JSON": "JSON 形式の設定",
    "This widget wants to:": "このウィジェットが求めている許可:",
    "Write an object: { … }": "オブジェクトを入力してください: { … }"
  }
};

/** A function that translates an English text into a language, and fills in values. */
export function translator(locale) {
  const tag = locale ?? (document.documentElement.lang || navigator.language);
  const known = TEXTS[tag] ?? TEXTS[tag.split("-")[0]] ?? {};
  return (text, values = {}) =>
    (known[text] ?? text).replace(/%\((\w+)\)s/g, (all, name) => values[name] ?? all);
}
