"""Words that fill in templates. Each pool has one list for training and one for held-out instances.

No word of a held-out list stands in any training list, of whatever pool, nor in the fixed text of an
instruction; a test sees to it.
"""

from __future__ import annotations

__all__ = ["HELDOUT", "POOLS"]


def _split(train: str, heldout: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(train.split()), tuple(heldout.split())


#: pool -> (training words, held-out words)
POOLS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "nouns": _split(
        "harbor garden lantern bridge engine marble pocket saddle timber velvet anchor basket canyon desert ember forest "
        "glacier hammer island jacket kettle ladder meadow needle orchard pebble quarry ribbon shadow tunnel umbrella valley "
        "walnut yarn zipper barrel candle dragon feather goblet helmet ivory jungle kernel ledger magnet nectar oyster parcel "
        "quilt rocket sponge temple violin wagon cactus donkey flute guitar hinge",
        "almanac bonfire cobweb dolphin envelope falcon gazebo hamlet icicle javelin kayak lagoon mosaic nugget obelisk pelican "
        "quiver raccoon sapphire thimble urchin vineyard whistle abacus beacon cradle dungeon ferret gravel harvest",
    ),
    "adjectives": _split(
        "quiet bright narrow gentle rapid silver hollow frozen golden humble jolly keen lively modest noble orange proud royal "
        "sturdy tender urban vivid warm young amber brave calm dusty early fancy grand happy icy junior kind loyal mellow neat",
        "ancient bitter crimson dapper eager fluffy glossy hasty ivied jagged knotty lunar misty nimble opaque pastel rustic "
        "scarlet tidal upbeat",
    ),
    "names": _split(
        "Alice Bruno Carla David Elena Felix Greta Henry Irene Jonas Karin Lukas Maria Nadia Oscar Paula Quinn Robert Sofia "
        "Thomas Ursula Victor Wanda Xavier Yvonne Albert Bianca Conrad Daphne Edgar Fiona Gustav Hannah Ingrid Julian Katrin "
        "Leonie Martin Noelle Otto",
        "Agatha Boris Celine Dmitri Esther Fabian Gideon Helga Isidor Judith Klaus Lydia Mirko Nestor Odette Pascal Regina "
        "Silvan Tamara Ulrich",
    ),
    "surnames": _split(
        "Archer Becker Carter Dawson Ellis Fisher Graham Hughes Ingram Jensen Keller Lawson Meyer Nolan Osborn Parker Reed "
        "Sawyer Turner Vance Weber Young Zimmer Barnes Cooper Decker Foster Gibson Hoffman Jacobs",
        "Abbott Bishop Crowley Doyle Erskine Farrow Goddard Hadley Irving Jarvis Kessler Lambert Mercer Norwood Ogden",
    ),
    "cities": _split(
        "Lisbon Madrid Vienna Prague Warsaw Dublin Helsinki Athens Geneva Turin Bergen Krakow Porto Seville Lyon Ghent "
        "Bremen Malmo Tartu Zagreb Boston Denver Austin Seattle Toronto",
        "Aarhus Bilbao Cordoba Dresden Espoo Firenze Gdansk Haarlem Innsbruck Jena Kaunas Leiden Nantes Odense Palermo",
    ),
    "products": _split(
        "apples pencils chairs lamps mugs boots ropes nails tiles paints brushes buckets blankets cables folders stamps "
        "gloves hooks jars keys locks maps pillows rulers screws towels vases wheels bottles clocks",
        "anvils bobbins crayons drills easels funnels goggles hoses inks jugs kites ladles mirrors napkins oars",
    ),
    "topics": _split(
        "budget meeting travel recipe garage library concert repair holiday invoice project lesson picnic survey theatre "
        "training wedding weather workshop nursery",
        "auction banquet cruise debate exhibit festival gallery hiking inventory jubilee",
    ),
    "verbs": _split(
        "call paint clean order water repair visit collect deliver measure polish review arrange borrow charge inspect",
        "assemble brew caulk decorate engrave fasten glaze hoist iron juggle",
    ),
}

#: Every word that only held-out instances may show.
HELDOUT = frozenset(word for _train, heldout in POOLS.values() for word in heldout)
