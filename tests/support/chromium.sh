#!/bin/sh
# Starts $CHROMIUM_PROGRAM with its arguments, and without the WebUI of the address bar.
#
# Recent releases load two pages per window for the suggestions below the address bar:
# 0.5 s of CPU time for every browser context, most of the cost of a short test. The features are
# added to those that Playwright disables, because a second --disable-features replaces the first.
features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup
for argument; do
    shift
    case $argument in
        --disable-features=*) argument=$argument,$features ;;
    esac
    set -- "$@" "$argument"
done
exec "$CHROMIUM_PROGRAM" "$@"
